// The browser and the binary that the tests use.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const BROWSERS = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Starts Chromium; a machine without one fails the tests and says what to install. */
export function browser() {
  const executablePath = BROWSERS.find((p) => p && existsSync(p));
  if (!executablePath) throw new Error("no Chromium found: `apt-get install chromium`, or set CHROMIUM to its path");
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"] });
}

/** The binary under test. */
export const binary = process.env.STICTION ?? fileURLToPath(new URL("../target/debug/stiction", import.meta.url));

/** Runs it to its end. */
export function stiction(...args) {
  return execFileSync(binary, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}
