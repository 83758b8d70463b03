// Builds if a source is newer than the last build, so that an unchanged checkout starts without the compiler. With `--tests` the
// tests count too: the build checks their types, and an unchanged checkout was checked when it was built.
import { execFileSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const SOURCES = [
  'services',
  'schemas',
  'clients/typescript/src',
  'docs/sql.md',
  'infra/bundle.mjs',
  'infra/dashboard.mjs',
  ...(process.argv.includes('--tests') ? ['test', 'vitest.config.ts'] : ['test/bench', 'test/rig']),
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
]

const changedMs = (path) => {
  const entry = statSync(path)
  if (!entry.isDirectory()) return entry.mtimeMs
  return Math.max(entry.mtimeMs, ...readdirSync(path).map((name) => changedMs(join(path, name))))
}

const builtMs = statSync(join(root, 'dist/bundle/main.js'), { throwIfNoEntry: false })?.mtimeMs ?? 0
if (SOURCES.some((path) => changedMs(join(root, path)) > builtMs)) {
  execFileSync('npm', ['run', '--silent', 'build'], {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
}
