/**
 * Which test files need a process of their own: those that replace a global, directly or by what they import of the tests; those
 * with a browser; those whose header says `@own-process` and why. All others share three processes, which saves each of them
 * two seconds of loading; so do those whose header says `@shared-process`, because only a program in their text does it.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

/** Marks at the start of a line of the file's header. */
const OWN = /^ \* @own-process /m
const SHARED = /^ \* @shared-process /m
const LONE_MODULES = new Set(['node:vm', 'playwright-core'])
const CHANGES_GLOBALS = new RegExp(
  [
    String.raw`\bvi\.(mock|doMock|hoisted|resetModules|useFakeTimers|setSystemTime|stubGlobal|stubEnv)\b`,
    String.raw`\bvi\.spyOn\((globalThis|global|process|console|Date)\b`,
    String.raw`\bprocess\.(env\.\w+ = |chdir\(|exitCode = |on\(|once\(|memoryUsage)`,
    String.raw`\bglobalThis\.\w+ = |\bdelete process\.env|\bglobal\.gc\b`,
  ].join('|'),
)
const IMPORT = /^(?:import|export)\s+(?!type\s)(?:[^'";]*?\sfrom\s+)?'([^']+)'|\bimport\('([^']+)'\)/gm

type Source = { imports: readonly string[]; isLone: boolean }

/** Relative to `root`, as vitest's `include` takes them. */
export function filesOfOwnProcess(root: string): string[] {
  const sources = new Map<string, Source>()
  const sourceOf = (path: string): Source => {
    const known = sources.get(path)
    if (known !== undefined) return known
    const source = readSource(path, !relative(root, path).startsWith('services'))
    sources.set(path, source)
    return source
  }
  return testFiles(join(root, 'test'))
    .filter((file) => closureOf(file, sourceOf).some((path) => sourceOf(path).isLone))
    .map((file) => relative(root, file))
}

function readSource(path: string, isTest: boolean): Source {
  const text = readFileSync(path, 'utf8')
  const named = [...text.matchAll(IMPORT)].map(([, fixed, dynamic]) => fixed ?? dynamic ?? '')
  return {
    imports: named.filter((name) => name.startsWith('.')).flatMap((name) => sourceFile(dirname(path), name)),
    isLone:
      OWN.test(text) ||
      named.some((name) => LONE_MODULES.has(name)) ||
      (isTest && CHANGES_GLOBALS.test(text) && !SHARED.test(text)),
  }
}

/** None where it is data. */
function sourceFile(folder: string, name: string): string[] {
  const path = resolve(folder, name)
  return [path.replace(/\.js$/, '.ts'), path]
    .filter((each) => /\.[mc]?[jt]s$/.test(each) && existsSync(each))
    .slice(0, 1)
}

function closureOf(file: string, sourceOf: (path: string) => Source): string[] {
  const found = new Set([file])
  // A set visits what is added while it is walked.
  for (const path of found) for (const imported of sourceOf(path).imports) found.add(imported)
  return [...found]
}

function testFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return testFiles(path)
    return entry.name.endsWith('.test.ts') ? [path] : []
  })
}
