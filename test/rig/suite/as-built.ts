/**
 * Tests import the services and the rig as the compiler left them in `dist`, by Node itself: through vite each module is translated
 * once more, and runs slower. A run brings what is older than its source up to date first.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const FOLDERS = ['services', 'schemas', 'test/rig']
/** Written by the compiler at its end. */
const BUILD_INFO = 'dist/.tsbuildinfo-checked'

/** For vite: where a module that is built is imported from. */
export const asBuilt = (root: string) => ({
  name: 'as-built',
  enforce: 'pre' as const,
  resolveId(source: string, importer?: string): string | undefined {
    if (importer === undefined || !source.startsWith('.')) return undefined
    const path = relative(root, resolve(dirname(importer), source))
    if (!path.endsWith('.js') || !FOLDERS.some((folder) => path.startsWith(`${folder}/`))) return undefined
    const built = join(root, 'dist', path)
    return existsSync(built) ? built : undefined
  },
})

/** Paths that Node imports itself. */
export const BUILT = new RegExp(`/dist/(?:${FOLDERS.join('|')})/`)

/** Before all tests. */
export default function setup(): void {
  const root = fileURLToPath(new URL('../../..', import.meta.url))
  const builtMs = statSync(join(root, BUILD_INFO), { throwIfNoEntry: false })?.mtimeMs ?? 0
  if (FOLDERS.every((folder) => newestMs(join(root, folder)) <= builtMs)) return
  execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json'], {
    cwd: root,
    stdio: 'inherit',
  })
}

function newestMs(folder: string): number {
  const times = readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => statSync(join(entry.parentPath, entry.name)).mtimeMs)
  return Math.max(0, ...times)
}
