// One script, no chunks, no hashes in names: pack.js puts it into the page.
import { defineConfig } from "vite";

export default defineConfig({
  build: {
    outDir: "dist",
    lib: { entry: "src/main.js", formats: ["iife"], name: "stictionViewer", fileName: () => "viewer.js" },
    target: "es2022",
    minify: true,
  },
});
