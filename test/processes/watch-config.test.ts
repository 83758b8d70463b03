import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { loadConfig } from '../../services/core/config/index.js'
import type { Logger } from '../../services/core/runtime/logger.js'
import { watchConfig } from '../../services/processes/watch-config.js'

const stop = new AbortController()
afterEach(() => stop.abort())

it('takes changed chains, names what needs a restart, and keeps what runs when the file is wrong', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'dextape-watch-'))
  const file = join(folder, 'dextape.json')
  const write = (content: object | string) =>
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  const read = () => {
    const config = loadConfig({ env: {}, cwd: folder, file })
    return { config, sources: [...config.sources.values()] }
  }
  const base = { rpc: ['https://node.example'] }
  write({ chains: { base } })
  const taken: string[][] = []
  const logged: unknown[] = []
  const note =
    (level: string) =>
    (message: string, fields: object = {}) =>
      void logged.push({ level, message, ...fields })
  const logger = { info: note('info'), warn: note('warn'), error: note('error') } as unknown as Logger
  watchConfig({
    ...{ config: read().config, read, logger, signal: stop.signal, everyMs: 5 },
    change: (sources) => void taken.push(sources.map(({ chain, scope }) => `${chain} ${scope.amms.join()}`)),
  })

  write({ chains: { base: { ...base, amms: ['uniswapv3'] }, eth: base } })
  await expect.poll(() => taken).toEqual([['eth ', 'base uniswapv3']])
  expect(logged).toEqual([])

  write('{ "chains": ')
  await expect.poll(() => logged).toMatchObject([{ level: 'error', message: expect.stringContaining('kept') }])
  expect(taken).toHaveLength(1)

  write({ http_port: 9999, chains: {} })
  await expect.poll(() => taken).toEqual([['eth ', 'base uniswapv3'], []])
  expect(logged.slice(1)).toMatchObject([{ level: 'warn', changed: ['httpPort'] }])
})
