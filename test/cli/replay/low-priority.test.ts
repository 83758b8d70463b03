import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import { repositoryRoot } from '../../../schemas/avro.js'

const MODULE = pathToFileURL(join(repositoryRoot(), 'dist/services/cli/replay/low-priority.js'))

it.runIf(process.platform === 'linux')('lowers every thread of the process, those of V8 and libuv too', () => {
  const script = `
    import { readdirSync } from 'node:fs'
    import { getPriority } from 'node:os'
    import { lowerPriority } from ${JSON.stringify(MODULE.href)}
    lowerPriority()
    console.log(JSON.stringify(readdirSync('/proc/self/task').map((thread) => getPriority(Number(thread)))))`
  const out = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  const priorities = JSON.parse(out) as number[]
  expect(priorities.length).toBeGreaterThan(4)
  expect(new Set(priorities)).toEqual(new Set([19]))
})
