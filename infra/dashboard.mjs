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
const folder = join(root, 'dist/dashboard')
// Beside the folder: it is not part of the package.
const mark = join(root, 'dist/.dashboard-inputs')
// Joined into the files; their terms ask that copies carry their licence.
const PACKAGES = ['preact', 'lightweight-charts', 'fancy-canvas']

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

if (!existsSync(join(folder, 'index.html')) || !existsSync(mark) || readFileSync(mark, 'utf8') !== inputs) {
  const { build } = await import('vite')
  await build({ configFile: join(root, 'services/dashboard/vite.config.ts') })
  writeFileSync(join(folder, 'LICENSES.txt'), PACKAGES.map(licenceOf).join(`\n${'-'.repeat(80)}\n\n`))
  writeFileSync(mark, inputs)
}

function licenceOf(name) {
  const path = join(root, 'node_modules', name)
  const { version, license } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
  const files = readdirSync(path).filter((file) => /^(licen[cs]e|notice)/i.test(file))
  const texts = files.map((file) => readFileSync(join(path, file), 'utf8').trim())
  return `${name} ${version} (${license})\n\n${texts.join('\n\n')}\n`
}
