"""Languages of code samples: a block in one of them is shown as code, whatever stands in it.

A block in any other language may belong to a plugin, and many plugins render Markdown that stands in their blocks
(Admonition's `ad-note`, tabs, columns, timelines, galleries); so what is not known to be code is looked through.
Source: names and aliases that Prism (Obsidian's highlighter) and highlight.js know, and some of the shell and of tools.
"""

from __future__ import annotations

from typing import Final

from service.guards.markup.words import words

LANGUAGES: Final = words(
    """
    abap abnf actionscript ada adoc agda al alloy antlr4 apache apacheconf apex apl applescript arduino arm armasm asciidoc
    asm asm6502 asp aspnet assembly astro autohotkey autoit avisynth awk ballerina bash basic bat batch bbcode bf bib biblatex
    bibtex bicep bison blade bnf brainfuck bsl c c# c++ caddyfile capnp cc ceylon cfg cfml chapel cil cisco clike clj cljs
    clojure cmake cmd cobol code coffee coffeescript cmdline common-lisp commonlisp conf config console coq cpp cr crystal cs
    csharp cshtml csp css csv cts cuda cue cxx cypher cython d dart dax delphi dhall diff djvu django dns do docker dockerfile
    dockerignore dos dotenv dotnet dts ebnf editorconfig edn eiffel ejs elisp elixir elm emacs emacs-lisp env erb erl erlang
    ex exs excel f# f90 factor fasm fennel fish flow forth fortran fs fsharp gams gas gawk gcode gdscript gherkin git
    gitattributes gitignore gleam glsl gml gn gnuplot go go-mod golang gql gradle graphql groovy h haml handlebars haskell
    haxe hbs hcl hex hlsl hocon hpp hs htaccess htm html+erb http https hy icalendar idris ignore inform7 ini ino io ipython
    irc j jade jai janet java javadoc javascript jinja jinja2 jl jolie jq js js-extras jsdoc json json5 jsonc jsonl jsonnet
    jsonp jsstacktrace jsx julia just justfile k kdl keyman kotlin kql kt kts kubernetes kusto latex latte lean less lex liquid
    lisp livescript llvm log logs lolcode lua m make makefile man markdown markup mathematica matlab mawk mbox md mdx mediawiki
    mel mips mjml mjs mk ml mojo monkey moonscript mql mts mysql n1ql nasm nginx nim nix nodejs none nsis nu nushell objc
    objective-c objectivec ocaml odin opencl openqasm openscad org output oz pact parser pas pascal patch peg perl pgsql php
    php-extras phpdoc pl plain plaintext plist plpgsql plsql po pod pony postgres postgresql postscript powerquery powershell
    processing prolog promql properties proto protobuf ps1 psql pug puppet pure purescript py pycon pyi pyrex pyspark python
    python3 q qml qsharp r racket raku rake razor rb reason reasonml regex regexp rego renpy rescript rest result rip robot
    robotframework ron rs rss rst ruby rust sas sass scala scheme scm scss sed sh shader shell shell-session shellsession
    smali smalltalk smarty sml solidity sparql splunk spl sql sqlite squirrel srt ssh-config stan stata stdin stdout stderr
    step stylus svelte swift syntax systemd systemverilog tact tads tcl tcsh tera term terminal terraform tex text textile tf
    thrift toml trace traceback ts tsql tsv tsx ttl turtle twig txt typescript typst unit-file v v8 vala vb vba vbnet vbs
    vbscript velocity verilog vhdl vi vim vimscript vlang vtt vue wasm wast wat web-idl webidl wgsl wiki wolfram wren x86asm
    xaml xbase xhtml xls xml xojo xonsh xpath xquery xsd xsl xslt yacc yaml yang yml zeek zig zone zsh
    """
)
