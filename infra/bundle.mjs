// Joins the compiled modules, and the packages they import, into few files in dist/bundle: one entry for the command and one for
// each thread. Loading some 500 modules once for each of five threads took a third of a start. Each entry is joined for itself:
// what all of them share would be dozens of small files, and finding each of them again in each thread a tenth of a start.
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = join(root, 'dist/bundle')
// Replaces the other in one step: a command that runs meanwhile finds its files.
const fresh = `${folder}.new`
const old = `${folder}.old`
const ENTRIES = [
  'cli/main.js',
  'core/runtime/event-loop-watcher.js',
  'processes/threads/check-thread.js',
  'processes/threads/cut-files-thread.js',
  'processes/threads/engine-thread.js',
  'processes/threads/fold-thread.js',
  'processes/threads/ingest-thread.js',
  'processes/threads/rest-thread.js',
]
// Native code, files read beside the package, or loaded by `require` when first needed.
const NOT_JOINED = ['@bokuweb/zstd-wasm', '@grpc/*', 'chdb', 'kafkajs', 'uWebSockets.js', 'ws', 'yaml']

// Its modules for `import` are a dozen files, found and linked again in each thread; for `require` it is one.
const lmdbByRequire = {
  name: 'lmdb by require',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^lmdb$/ }, ({ path, namespace }) =>
      namespace === 'required' ? { path, external: true } : { path, namespace: 'required' },
    )
    onLoad({ filter: /^lmdb$/, namespace: 'required' }, () => ({ contents: "module.exports = require('lmdb')" }))
  },
}

for (const left of [fresh, old]) rmSync(left, { recursive: true, force: true })
const joined = await Promise.all(ENTRIES.map(joinEntry))
writeFileSync(join(fresh, 'LICENSES.txt'), licencesOf(joined.flatMap(({ metafile }) => Object.keys(metafile.inputs))))
if (existsSync(folder)) renameSync(folder, old)
renameSync(fresh, folder)
rmSync(old, { recursive: true, force: true })

function joinEntry(entry) {
  return build({
    absWorkingDir: root,
    entryPoints: [`dist/services/${entry}`],
    outdir: fresh,
    // Threads are started from files beside their starter: all files lie in one folder.
    entryNames: '[name]',
    bundle: true,
    // What is imported only when it is needed stays in files of its own.
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: NOT_JOINED,
    plugins: [lmdbByRequire],
    // Packages in CommonJS call `require` for Node's own modules.
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'\nconst require = __createRequire(import.meta.url)",
    },
    logLevel: 'warning',
    metafile: true,
  })
}

/** The licence of every package joined in: their terms ask that copies carry it. */
function licencesOf(inputs) {
  const packages = new Set(inputs.flatMap((path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []))
  const texts = [...packages].sort().map((path) => {
    const { name, version, license } = JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8'))
    const file = readdirSync(join(root, path)).find((entry) => /^licen[cs]e/i.test(entry))
    const text = file ? readFileSync(join(root, path, file), 'utf8').trim() : ''
    return `${name} ${version} (${license})\n\n${text}\n`
  })
  return texts.join(`\n${'-'.repeat(80)}\n\n`)
}
