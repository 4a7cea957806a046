#!/usr/bin/env node
// Starts the program of the package for this platform, and ends as it ends.
"use strict";
const { spawn } = require("node:child_process");

const platform = `${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`@csv-agent/${platform}/csv-agent`);
} catch {
  const isBuilt = ["linux-x64", "linux-arm64"].includes(platform);
  console.error(`error: there is no csv-agent for ${platform} here`);
  console.error(
    isBuilt
      ? "  hint: install it again without `--omit=optional` or `--no-optional`"
      : "  hint: csv-agent runs on Linux; on Windows, use WSL 2",
  );
  process.exit(3);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// A terminal sends Ctrl-C to the program as well, which decides when to end.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`error: cannot start ${program}: ${error.message}`);
  process.exit(3);
});
child.on("exit", (code, signal) => {
  if (signal === null) {
    process.exit(code);
  }
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
