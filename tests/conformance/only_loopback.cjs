// Loaded before the suite and the inspector: whatever connects to another machine fails, and is noted in the file STRAYED.
"use strict";

const fs = require("node:fs");
const net = require("node:net");

const HERE = new Set(["localhost", "127.0.0.1", "::1"]);
const connect = net.Socket.prototype.connect;

net.Socket.prototype.connect = function (...args) {
  const [options] = Array.isArray(args[0]) ? args[0] : net._normalizeArgs(args);
  const host = options.host ?? "localhost";
  if (options.path === undefined && !HERE.has(host)) {
    fs.appendFileSync(process.env.STRAYED, `${host}\n`);
    throw new Error(`only loopback: ${host}`);
  }
  return connect.apply(this, args);
};
