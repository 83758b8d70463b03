import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { repositoryRoot } from '../../schemas/avro.js'

const folder = join(repositoryRoot(), 'clients/typescript')

it('@dextape/client is plain modules with types that import nothing else, so that a browser loads them', () => {
  const packed = execFileSync('npm', ['pack', '--dry-run', '--ignore-scripts', '--json'], { cwd: folder })
  const [tarball] = JSON.parse(String(packed)) as { files: { path: string }[] }[]
  const files = tarball?.files.map(({ path }) => path) ?? []
  const modules = readdirSync(join(folder, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => name.replace(/\.ts$/, ''))
  const built = modules.flatMap((name) => [`dist/${name}.d.ts`, `dist/${name}.js`])
  expect(files.sort()).toEqual(['README.md', 'package.json', ...built].sort())
  const imported = built.flatMap((path) =>
    [...readFileSync(join(folder, path), 'utf8').matchAll(/\b(?:from|import)\s*\(?['"]([^'"]+)['"]/g)].map(
      ([, name]) => name,
    ),
  )
  expect(imported.filter((name) => !name?.startsWith('./') && !name?.startsWith('../'))).toEqual([])
})
