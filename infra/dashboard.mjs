// Builds the dashboard into dist/dashboard, unless nothing it is made from has changed since.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const INPUTS = [
  'services/dashboard',
  'clients/typescript/src',
  'docs/sql.md',
  'package-lock.json',
  'infra/dashboard.mjs',
]
const mark = join(root, 'dist/dashboard/inputs.sha256')

const hash = createHash('sha256')
const add = (path) => {
  if (statSync(join(root, path)).isDirectory()) {
    for (const name of readdirSync(join(root, path)).sort()) add(`${path}/${name}`)
  } else
    hash
      .update(path)
      .update('\0')
      .update(readFileSync(join(root, path)))
      .update('\0')
}
for (const path of INPUTS) add(path)
const inputs = hash.digest('hex')

if (!existsSync(mark) || readFileSync(mark, 'utf8') !== inputs) {
  const { build } = await import('vite')
  await build({ configFile: join(root, 'services/dashboard/vite.config.ts') })
  writeFileSync(mark, inputs)
}
