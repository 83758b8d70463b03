import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { chainFacts } from '../../../../services/core/config/config.js'
import { type ChainSection, loadConfig } from '../../../../services/core/config/index.js'
import { keptReferences, referenceKey } from '../../../../services/ingest/sources/evm/reference-pools.js'

const [A, B, C] = ['a', 'b', 'c'].map((digit) => `0x${digit.repeat(40)}`) as [string, string, string]

it('looks up reference pools once, and again if the pools, the quote tokens or the factories change', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'dextape-references-'))
  let found = 0
  const askedWith = async (section: ChainSection) => {
    const config = loadConfig({ env: { DEXTAPE_RPC_BASE: 'http://n' }, cwd: folder, chains: { base: section } })
    const source = config.sources.get('base')
    if (source?.family !== 'evm') throw new Error('base has no source')
    const before = found
    const pools = await keptReferences(folder, referenceKey(source, chainFacts(config, 'base')), async () => [
      `${++found}`,
    ])
    expect(pools).toEqual([`${found}`])
    return found > before
  }
  expect(await askedWith({ pools: [A, B] })).toBe(true)
  expect(await askedWith({ pools: [B, A] })).toBe(false)
  expect(await askedWith({ pools: [A, B], anchor: C })).toBe(true)
  expect(await askedWith({ pools: [A, B], contracts: [{ address: C, protocol: 'uniswap-v2', amm: 'x' }] })).toBe(true)
  for (const damaged of ['{"key":"0xa,0x', '', 'null', '{"key":"0xa,0xb"}']) {
    writeFileSync(join(folder, 'reference-pools.json'), damaged)
    expect(await askedWith({ pools: [A, B] })).toBe(true)
  }
  expect(readdirSync(folder)).toEqual(['reference-pools.json'])
})
