/**
 * Runs a bundled entry (infra/bundle.mjs) from V8's compiled code of an earlier start, and keeps the code for the next one. Its
 * modules are CommonJS without `import()`: in code that was compiled earlier, V8 of Node 20 never settles one.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { Script } from 'node:vm'
import { type CodeCache, openCodeCache } from './code-cache.js'

export type Bundle = {
  folder: string
  entry: string
  /** Names the content of all modules in the folder. */
  build: string
  /** For packages. */
  require: (id: string) => unknown
}

type Module = { exports: unknown; hasRun: boolean }
type Run = (exports: unknown, require: (id: string) => unknown, module: Module, url: string) => void

/** The code of functions that have run is in the cache: by then a start is over. */
const KEEP_AFTER_MS = 5_000

/** Returns what the entry exports. */
export function loadBundle(bundle: Bundle): unknown {
  const { folder, entry, build, require } = bundle
  const cache = openCodeCache(folder, entry, build)
  const modules = new Map<string, Module>()
  const compiled = new Map<string, { script: Script; isNew: boolean }>()

  function load(name: string): unknown {
    const known = modules.get(name)
    if (known?.hasRun === false) throw new Error(`${name} is imported by a file that it imports itself`)
    if (known !== undefined) return known.exports
    const module: Module = { exports: {}, hasRun: false }
    modules.set(name, module)
    try {
      compile(name)(module.exports, requireOf, module, pathToFileURL(join(folder, name)).href)
      module.hasRun = true
    } catch (error) {
      modules.delete(name)
      throw error
    }
    return module.exports
  }
  const requireOf = (id: string) => (id.startsWith('./') ? load(id.slice(2)) : require(id))

  function compile(name: string): Run {
    const filename = join(folder, name)
    const source = `(function (exports, require, module, __url) {${readFileSync(filename, 'utf8')}\n})`
    const cachedData = cache.read(name)
    const script = new Script(source, cachedData === undefined ? { filename } : { filename, cachedData })
    compiled.set(name, { script, isNew: script.cachedDataRejected !== false })
    return script.runInThisContext() as Run
  }

  setTimeout(() => void keepCode(cache, compiled), KEEP_AFTER_MS).unref()
  return load(`${entry}.code.cjs`)
}

/** In turns: it takes some 50 ms in all, once after a build. */
async function keepCode(
  cache: CodeCache,
  compiled: ReadonlyMap<string, { script: Script; isNew: boolean }>,
): Promise<void> {
  if ([...compiled.values()].some(({ isNew }) => isNew)) {
    const codes = new Map<string, Buffer>()
    for (const [name, { script }] of compiled) {
      codes.set(name, script.createCachedData())
      await nextTurn()
    }
    cache.write(codes)
  }
  cache.close()
}
