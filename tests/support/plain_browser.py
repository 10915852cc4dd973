"""A browser without script, as far as signing in needs one: cookies, forms, Origin, and leaving for another site.

It is as strict as Chromium where that broke connectors (auth.md 2.6): a page that sends no referrer posts `Origin: null`,
and a form whose page says `form-action 'self'` may not end in a redirect to another site.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from http.cookies import SimpleCookie
from urllib.parse import urlencode, urljoin, urlsplit

import httpx2

from tests.support.internet import Internet


@dataclass(frozen=True, slots=True)
class Button:
    """One that sends its form. What is on it, and what it adds to the form."""

    label: str
    name: str | None
    value: str


@dataclass
class Form:
    """What a form would send: the fields as they stand, with hidden and pre-selected ones."""

    action: str
    method: str
    fields: dict[str, list[str]] = field(default_factory=dict)
    choices: dict[str, list[str]] = field(default_factory=dict)
    passwords: list[str] = field(default_factory=list)
    buttons: list[Button] = field(default_factory=list)

    def button(self, label: str) -> Button:
        """The one whose label begins so, whatever the case."""
        found = [one for one in self.buttons if one.label.lower().startswith(label.lower())]
        assert len(found) == 1, f"{label!r} is on {len(found)} of {[one.label for one in self.buttons]}"
        return found[0]


@dataclass
class Page:
    """An answer as a person sees it. `leads_to` is where a page sends its reader on, by itself and by a visible link."""

    url: str
    answer: httpx2.Response
    forms: list[Form]
    text: str
    leads_to: str | None

    @property
    def status(self) -> int:
        return self.answer.status_code


class PlainBrowser:
    """One person's browser."""

    def __init__(self, internet: Internet) -> None:
        self._internet = internet
        self.cookies: dict[str, str] = {}

    def open(self, url: str) -> Page:
        """Come from another site, as from a client that wants access."""
        return self._page(url, self._ask("GET", url, {"Sec-Fetch-Site": "cross-site"}))

    def submit(self, page: Page, label: str, answers: Mapping[str, str | list[str]] | None = None) -> Page:
        """Fill in the form that has the button and press it.

        Args:
            label: how the label of the button begins.
            answers: fields by name; a list for several of the same name, an empty one to leave a field out.
        """
        form = next(one for one in page.forms if any(b.label.lower().startswith(label.lower()) for b in one.buttons))
        button = form.button(label)
        fields = {**form.fields, **{name: [v] if isinstance(v, str) else v for name, v in (answers or {}).items()}}
        if button.name is not None:
            fields[button.name] = [button.value]
        url = urljoin(page.url, form.action)
        policy = page.answer.headers.get("referrer-policy", "")
        headers = {
            "Origin": "null" if policy == "no-referrer" else self._internet.base,
            "Sec-Fetch-Site": "same-origin",
            "Content-Type": "application/x-www-form-urlencoded",
        }
        pairs = [(name, value) for name, values in fields.items() for value in values]
        answer = self._ask(form.method.upper(), url, headers, urlencode(pairs).encode())
        if answer.is_redirect and "form-action 'self'" in page.answer.headers.get("content-security-policy", ""):
            raise AssertionError("Chromium blocks this redirect: the page's policy is form-action 'self'")
        return self._page(url, answer)

    def _ask(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None = None) -> httpx2.Response:
        told = {"Accept": "text/html", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document", **headers}
        if self.cookies:
            told["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        answer = self._internet.ask(method, url, told, body=body)
        for line in answer.headers.get_list("set-cookie"):
            for name, morsel in SimpleCookie(line).items():
                self._keep(name, morsel.value, is_gone=morsel["max-age"] == "0")
        return answer

    def _keep(self, name: str, value: str, *, is_gone: bool) -> None:
        if is_gone:
            self.cookies.pop(name, None)
        else:
            self.cookies[name] = value

    @staticmethod
    def _page(url: str, answer: httpx2.Response) -> Page:
        reader = _Reader()
        if answer.headers.get("content-type", "").startswith("text/html"):
            reader.feed(answer.text)
        leads_to = answer.headers.get("location")
        if reader.refresh is not None and urlsplit(reader.refresh).scheme:
            assert reader.refresh in reader.links, "a custom scheme needs a link that one can press (auth.md 2.6)"
            leads_to = reader.refresh
        return Page(url, answer, reader.forms, " ".join("".join(reader.words).split()), leads_to)


class _Reader(HTMLParser):
    """Forms, links, the refresh and the words of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self.links: list[str] = []
        self.words: list[str] = []
        self.refresh: str | None = None
        self._label: list[str] | None = None
        self._button: Mapping[str, str] = {}
        self._select: str | None = None
        self._area: str | None = None
        self._is_in_form = self._is_unseen = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        match tag:
            case "form":
                self.forms.append(Form(given.get("action", ""), given.get("method", "get")))
                self._is_in_form = True
            case "input" if self._is_in_form:
                self._input(self.forms[-1], given)
            case "select":
                self._select = given.get("name")
            case "option" if self._is_in_form and self._select:
                self._option(self.forms[-1], self._select, given)
            case "textarea" if self._is_in_form and "name" in given:
                self._area, self.forms[-1].fields[given["name"]] = given["name"], [""]
            case "button":
                self._button, self._label = given, []
            case "a" if "href" in given:
                self.links.append(given["href"])
            case "meta" if given.get("http-equiv", "").lower() == "refresh":
                _, _, target = given.get("content", "").partition(";")
                self.refresh = target.strip().removeprefix("url=") or None
            case "style" | "title" | "script":
                self._is_unseen = True

    def handle_endtag(self, tag: str) -> None:
        match tag:
            case "form":
                self._is_in_form = False
            case "select":
                self._select = None
            case "textarea" if self._area is not None:
                (text,) = self.forms[-1].fields[self._area]
                self.forms[-1].fields[self._area], self._area = (
                    [text.removeprefix("\n")],
                    None,
                )  # HTML: the first is dropped
            case "button" if self._label is not None:
                if self._is_in_form and self._button.get("type", "submit") == "submit":
                    label = " ".join("".join(self._label).split())
                    button = Button(label, self._button.get("name"), self._button.get("value", ""))
                    self.forms[-1].buttons.append(button)
                self._label = None
            case "style" | "title" | "script":
                self._is_unseen = False

    def handle_data(self, data: str) -> None:
        if self._area is not None:
            self.forms[-1].fields[self._area][0] += data
        elif not self._is_unseen:
            self.words.append(data)
        if self._label is not None:
            self._label.append(data)

    @staticmethod
    def _input(form: Form, given: Mapping[str, str]) -> None:
        name, value, kind = given.get("name"), given.get("value", ""), given.get("type", "text")
        if kind == "submit":
            form.buttons.append(Button(value, name, value))
        elif name is not None:
            if kind in ("radio", "checkbox"):
                form.choices.setdefault(name, []).append(given.get("value", "on"))
                if "checked" in given:
                    form.fields.setdefault(name, []).append(given.get("value", "on"))
            else:
                form.fields.setdefault(name, []).append(value)
            if kind == "password":
                form.passwords.append(name)

    @staticmethod
    def _option(form: Form, name: str, given: Mapping[str, str]) -> None:
        value = given.get("value", "")
        is_first = name not in form.choices
        form.choices.setdefault(name, []).append(value)
        if is_first or "selected" in given:
            form.fields[name] = [value]
