import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { describe, expect, it, vi } from 'vitest'
import { chainSections, selectSources } from '../../services/cli/chain-options.js'
import type { World } from '../../services/cli/context.js'
import { runCli } from '../../services/cli/program.js'
import { loadConfig } from '../../services/core/config/index.js'
import { createOutput } from '../../services/core/runtime/output.js'

const cwd = mkdtempSync(join(tmpdir(), 'dextape-options-'))
writeFileSync(join(cwd, 'dextape.yaml'), 'data_dir: none\nchains: { base: { rpc: [http://a], pools: [] } }')

/** The exit code or error message, and what was written to stderr. */
async function run(...args: string[]): Promise<{ ended: number | string; err: string }> {
  const stdout = new Writable({ write: (_chunk, _encoding, done) => done() })
  const world: World = {
    ...{ env: { DEXTAPE_CONFIG: 'dextape.yaml' }, cwd, out: createOutput(stdout), stdout },
    ...{ stdin: (async function* () {})(), stderr: process.stderr, nowMs: Date.now },
  }
  let err = ''
  const write = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    err += String(text)
    return true
  })
  try {
    return { ended: await runCli(world, args), err }
  } catch (error) {
    return { ended: error instanceof Error ? error.message : String(error), err }
  } finally {
    write.mockRestore()
  }
}

describe('options of chains', () => {
  it('override the keys of a chain’s section', () => {
    const rpc = ['http://a', 'ws://b']
    const options = { chain: 'base', rpc, pool: ['0x1'], token: ['0x2'], amm: ['x'], start: '5', maxRps: '2.5' }
    expect(chainSections({ ...options, balances: 'all' })).toEqual({
      base: { rpc, pools: ['0x1'], tokens: ['0x2'], amms: ['x'], start: '5', balances: 'all', max_rps: 2.5 },
    })
    const together = { chain: 'base', rpc: ['http://a/x,y,ws://b', 'http://c'] }
    expect(chainSections(together)).toEqual({ base: { rpc: ['http://a/x,y', 'ws://b', 'http://c'] } })
    expect([chainSections({}), chainSections({ chain: 'base' })]).toEqual([{}, { base: {} }])
  })

  it('select one chain; without them, every chain with nodes is read', () => {
    const env = { DEXTAPE_RPC_ETH: 'http://e', DEXTAPE_RPC_BASE: 'http://b' }
    const config = loadConfig({ env, cwd })
    expect(selectSources(config, undefined).map(({ chain }) => chain)).toEqual(['eth', 'base'])
    expect(selectSources(config, 'base').map(({ chain }) => chain)).toEqual(['base'])
    expect(() => selectSources(config, 'bsc')).toThrow(/No nodes are configured for bsc. .*DEXTAPE_RPC_BSC/)
  })

  it.each([
    [['up', '--rpc', 'http://x'], '--chain is required with --rpc. Name the chain: --chain base.'],
    [['up', '--pool', '0x1', '--max-rps', '5'], '--chain is required with --pool, --max-rps'],
    [['up', '--chain', 'bse', '--rpc', 'http://x'], 'unknown chain "bse": did you mean'],
    [['up', '--chain', 'bsc'], 'No nodes are configured for bsc'],
    [['ingest', '--chain', 'base', '--pool', 'p'], 'each of "chains.base.pools" (--pool) must be a pool'],
    [['up', '--chain', 'base', '--max-rps', '0'], '--max-rps is not valid; expected a number above 0; got "0"'],
    [['backfill', '--chain', 'base', '--from', 'latest'], '--from is not valid'],
    [['backfill', '--chain', 'bsc'], 'No data directory'],
  ])('%j fails with: %s', async (args, message) => {
    expect((await run(...args)).ended).toContain(message)
  })

  it.each([
    [['up', '--chain', 'base', '--events', 'f'], "'--chain <chain>' cannot be used with option '-e, --events <file>'"],
    [['up', '--simulate', '--pool', '0x1'], "cannot be used with option '--simulate'"],
    [['ingest', '--rpc', 'http://x', '--seed', '3'], "cannot be used with option '--seed <number>'"],
    [['up', '--chain', 'base', '--balances', 'some'], 'Allowed choices are off, scoped, all'],
    [['backfill'], "required option '--chain <chain>' not specified"],
    [['backfill', '--chain', 'base', '--dead', '--from', '5'], "'--dead' cannot be used with option '--from <when>'"],
  ])('%j is a usage error: %s', async (args, message) => {
    expect(await run(...args)).toEqual({ ended: 64, err: expect.stringContaining(message) })
  })
})
