/** The Python client as it is published. */
import { mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { repositoryRoot } from '../../schemas/avro.js'
import { pythonTools, run } from '../rig/python/venv.js'

const source = join(repositoryRoot(), 'clients/python')

it('has complete types', async () => {
  const mypy = join(await pythonTools('mypy'), 'mypy')
  const python = join(await pythonTools('clients'), 'python')
  const cache = mkdtempSync(join(tmpdir(), 'dextape-mypy-'))
  expect(
    await run(mypy, ['--python-executable', python, '--cache-dir', cache, 'src/dextape'], { cwd: source }),
  ).toMatchObject({ code: 0 })
})

it('builds a wheel with its types', async () => {
  const python = join(await pythonTools('clients'), 'python')
  const out = mkdtempSync(join(tmpdir(), 'dextape-wheel-'))
  // From a copy: setuptools writes beside the sources.
  await run('cp', ['-r', source, join(out, 'source')])
  // The environment has no pip of its own if the system has one.
  const pip = (await run(python, ['-m', 'pip', '--version'])).code === 0 ? python : 'python3'
  const wheel = ['-m', 'pip', 'wheel', '--quiet', '--no-deps', '--wheel-dir', out, join(out, 'source')]
  const built = await run(pip, wheel)
  expect(built.code, built.out).toBe(0)
  const [name = ''] = readdirSync(out).filter((name) => name.endsWith('.whl'))
  const listed = await run(python, ['-m', 'zipfile', '-l', join(out, name)])
  for (const file of ['dextape/client.py', 'dextape/_generated.py', 'dextape/py.typed'])
    expect(listed.out).toContain(file)
})
