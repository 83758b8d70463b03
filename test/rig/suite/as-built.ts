/**
 * Tests import the services and the rig as the compiler left them in `dist`, by Node itself: through vite each module is translated
 * once more, and runs slower. A run brings what is older than its source up to date first.
 */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

const FOLDERS = ['services', 'schemas', 'test/rig']

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
  execFileSync(process.execPath, ['infra/ensure-built.mjs'], { stdio: 'inherit' })
}
