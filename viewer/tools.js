// The browser and the binary that the tests use.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const BROWSERS = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** How long anything may take before it counts as hanging [ms]: a busy machine without a GPU is slow. */
const PATIENCE = 120_000;

/** Starts Chromium; a machine without one fails the tests and says what to install. */
export async function browser() {
  const executablePath = BROWSERS.find((p) => p && existsSync(p));
  if (!executablePath) throw new Error("no Chromium found: `apt-get install chromium`, or set CHROMIUM to its path");
  const started = await chromium.launch({ executablePath, timeout: PATIENCE, args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"] });
  const newPage = started.newPage.bind(started);
  started.newPage = async (options) => {
    const page = await newPage(options);
    page.setDefaultTimeout(PATIENCE);
    return page;
  };
  return started;
}

/** The binary under test. */
export const binary = process.env.STICTION ?? fileURLToPath(new URL("../target/debug/stiction", import.meta.url));

/** Opens a page from disk; requests that leave the disk, complaints and errors are collected. */
export async function openFile(browser, file, hash = "", size = { width: 1000, height: 700 }) {
  const page = await browser.newPage({ viewport: size });
  const trouble = [];
  page.on("request", (r) => { if (!/^(file|data|blob):/.test(r.url())) trouble.push(`request ${r.url()}`); });
  page.on("console", (m) => { if (["error", "warning"].includes(m.type()) && !/GPU stall|GL Driver/.test(m.text())) trouble.push(m.text()); });
  page.on("pageerror", (e) => trouble.push(e.message));
  await page.goto(pathToFileURL(file) + hash);
  return { page, trouble };
}

/** Runs it to its end. */
export function stiction(...args) {
  return execFileSync(binary, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}
