// Joins the compiled modules, and the packages they import, into few files in dist/bundle: one entry for the command and one for
// each thread. Loading some 500 modules once for each of five threads took a third of a start. Each entry is joined for itself:
// what all of them share would be dozens of small files, and finding each of them again in each thread a tenth of a start.
// The files are CommonJS, which services/core/runtime/load-bundle.ts runs from V8's compiled code of an earlier start.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, transform } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = join(root, 'dist/bundle')
// Replaces the other in one step: a command that runs meanwhile finds its files.
const fresh = `${folder}.new`
const old = `${folder}.old`
const ENTRIES = [
  'cli/main.js',
  'processes/threads/check-thread.js',
  'processes/threads/engine-thread.js',
  'processes/threads/fold-thread.js',
  'processes/threads/ingest-thread.js',
  'processes/threads/rest-thread.js',
]
/** Too small for a cache. */
const SMALL_ENTRIES = ['core/runtime/event-loop-watcher.js', 'processes/threads/cut-files-thread.js']
const LOADER = 'core/runtime/load-bundle.js'
// Native code, files read beside the package, or loaded by `require` when first needed.
const NOT_JOINED = ['@bokuweb/zstd-wasm', '@grpc/*', 'chdb', 'kafkajs', 'uWebSockets.js', 'ws', 'yaml']

/** In a list of imported or exported names. */
const AS = /([\w$]+) as ([\w$]+)/g

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
mkdirSync(fresh, { recursive: true })
const joined = await Promise.all([...ENTRIES.map(joinEntry), ...[...SMALL_ENTRIES, LOADER].map(joinWhole)])
const codes = await Promise.all(joined.flatMap(({ outputFiles }) => outputFiles).map(asCommonJs))
const contents = createHash('sha256')
for (const { name, code } of codes.sort((one, other) => (one.name < other.name ? -1 : 1))) {
  contents.update(`${name}\0${code}\0`)
  writeFileSync(join(fresh, name), code)
}
const named = contents.digest('hex')
for (const entry of ENTRIES.map(nameOf)) writeFileSync(join(fresh, `${entry}.cjs`), loading(entry, named))
// The command waits for it, and a thread cannot: only a module of Node's own kind may await.
writeFileSync(join(fresh, 'main.js'), "import main from './main.cjs'\n\nawait main.finished\n")
writeFileSync(join(fresh, 'LICENSES.txt'), licencesOf(joined.flatMap(({ metafile }) => Object.keys(metafile.inputs))))
if (existsSync(folder)) renameSync(folder, old)
renameSync(fresh, folder)
rmSync(old, { recursive: true, force: true })

function nameOf(entry) {
  return entry.replace(/^.*\/|\.js$/g, '')
}

function loading(entry, build) {
  const bundle = `{ folder: __dirname, entry: '${entry}', build: '${build}', require }`
  return `const { loadBundle } = require('./load-bundle.cjs')\n\nmodule.exports = loadBundle(${bundle})\n`
}

function joinEntry(entry) {
  return build({
    ...common(entry),
    // What is imported only when it is needed stays in files of its own: only modules can be split.
    splitting: true,
    format: 'esm',
  })
}

function joinWhole(entry) {
  return build({ ...common(entry), format: 'cjs', define: { 'import.meta.url': '__filename' } })
}

function common(entry) {
  return {
    absWorkingDir: root,
    entryPoints: [`dist/services/${entry}`],
    outdir: fresh,
    // Threads are started from files beside their starter: all files lie in one folder.
    entryNames: '[name]',
    bundle: true,
    platform: 'node',
    target: 'node20',
    external: NOT_JOINED,
    plugins: [lmdbByRequire],
    logLevel: 'warning',
    metafile: true,
    write: false,
  }
}

/** Of a file of an entry: its imports, also those when needed, become `require`. */
async function asCommonJs({ path, text }) {
  const name = path.slice(fresh.length + 1)
  const isEntry = ENTRIES.some((entry) => nameOf(entry) === name.slice(0, -'.js'.length))
  const { code } = await transform(linkedByValue(withNewNames(text)), {
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    supported: { 'dynamic-import': false },
    define: { 'import.meta.url': '__url' },
  })
  return { name: name.replace(/\.js$/, isEntry ? '.code.cjs' : '.cjs'), code }
}

function withNewNames(text) {
  return text
    .replace(/^((?:import|\}? ?from|import .* from) )"(\.\/[^"]+)\.js";$/gm, '$1"$2.cjs";')
    .replace(/\bimport\("(\.\/[^"]+)\.js"\)/g, 'import("$1.cjs")')
    .replace(/\bnew URL\("(\.\/[^"]+)\.js", import\.meta\.url\)/g, 'new URL("$1.cjs", import.meta.url)')
}

/**
 * Static imports and exports as constants: as esbuild writes them, each use of an imported name calls two functions, a tenth of the
 * CPU of a fold. It is the same as long as no exported name changes after its file has run.
 */
function linkedByValue(text) {
  const imports = []
  const exported = []
  const linked = text
    .replace(/^import (?:\{([^}]*)\}|\* as ([\w$]+)|([\w$]+)) from ("[^"]+");$/gm, (_, names, all, one, id) => {
      const bound = names === undefined ? (all ?? one) : `{${names.replace(AS, '$1: $2')}}`
      const isOfJoined = one !== undefined && id.startsWith('"./')
      imports.push(`const ${bound} = require(${id})${isOfJoined ? '.default' : ''};`)
      return ''
    })
    .replace(/^import ("[^"]+");$/gm, 'require($1);')
    .replace(/^export default /gm, 'exports.default = ')
    .replace(/^export \{([^}]*)\};$/gm, (_, names) => {
      exported.push(...names.split(',').map((name) => name.trim().split(' ')[0]))
      return `Object.assign(exports, {${names.replace(AS, '$2: $1')}});`
    })
  const left = /^(?:import\b(?! *\()|export\b).*/m.exec(linked)
  if (left !== null) throw new Error(`cannot link ${left[0]}`)
  const changed = exported.find((name) => name !== '' && isAssignedInFunction(linked, name))
  if (changed !== undefined) throw new Error(`${changed} is exported and changes: export a function that returns it`)
  return `${imports.join('\n')}\n${linked}`
}

/** Functions are indented; what they declare themselves is another name. */
function isAssignedInFunction(text, name) {
  const assigned = new RegExp(
    `^(?= )(?:(?!\\b(?:const|let|var) ).)*(?<![.\\w$])${name.replaceAll('$', '\\$')} [-+*/|&?]*= `,
    'm',
  )
  return assigned.test(text)
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
