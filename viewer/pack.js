// Puts script, style and licences into one HTML file, the asset of stiction-io. With --check: says whether the
// committed asset is what its sources give.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = (p) => fileURLToPath(new URL(p, import.meta.url));
const asset = here("../crates/stiction-io/assets/viewer.html");
const check = process.argv.includes("--check");
if (check) execFileSync("npx", ["vite", "build", "--logLevel", "warn"], { cwd: here("."), stdio: "inherit" });

const read = (p) => readFileSync(here(p), "utf8");
// A script ends at the first </script>, even inside a string.
const script = read("dist/viewer.js").replaceAll("</script", "<\\/script");
const licence = read("node_modules/three/LICENSE").trim();
const page = read("index.html")
  .replace("/*style*/", () => read("src/style.css"))
  .replace("/*licence*/", () => `three.js\n\n${licence}`)
  .replace("/*script*/", () => script);

if (!check) {
  writeFileSync(asset, page);
  console.log(`wrote ${asset}: ${(page.length / 1024).toFixed(0)} KiB`);
} else if (readFileSync(asset, "utf8") !== page) {
  console.error("crates/stiction-io/assets/viewer.html is not what viewer/ builds: run `npm run build` there and commit");
  process.exit(1);
} else {
  console.log("the committed page is what its sources build");
}
