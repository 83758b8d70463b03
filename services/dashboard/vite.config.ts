/** Builds the dashboard into files that the REST server serves as they are. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig, type Plugin } from 'vite'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

export default defineConfig({
  root: at('.'),
  cacheDir: at('../../dist/.vite'),
  plugins: [sqlSamples()],
  resolve: { alias: { '@dextape/client': at('../../clients/typescript/src/index.ts') } },
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact', legalComments: 'none' },
  build: {
    outDir: at('../../dist/dashboard'),
    emptyOutDir: true,
    target: 'es2022',
    // Inlined files would be data: addresses, which the page's policy forbids for fonts and scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  logLevel: 'warn',
})

/** The queries of docs/sql.md, which a test runs: they are written down once. */
function sqlSamples(): Plugin {
  const id = 'virtual:sql-samples'
  return {
    name: 'sql-samples',
    resolveId: (name) => (name === id ? `\0${id}` : undefined),
    load(name) {
      if (name !== `\0${id}`) return undefined
      const text = readFileSync(at('../../docs/sql.md'), 'utf8')
      const found = text.matchAll(/^### ([^`\n]+)\n+```sql\n([\s\S]*?)```/gm)
      const samples = [...found].map(([, title, query]) => ({ title, query: query?.trim() }))
      return `export default ${JSON.stringify(samples)}`
    },
  }
}
