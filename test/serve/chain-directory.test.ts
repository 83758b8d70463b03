import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../services/core/config/index.js'
import { createChainDirectory, type IdKind, parseId } from '../../services/serve/chain-directory.js'
import { createServedChain } from '../../services/serve/memory/served-chain.js'

function directoryOf(...names: string[]) {
  const states = names.map((chain) => createServedChain(chain))
  const memory = {
    chain: (name: string) => states.find(({ chain }) => chain === name),
    chains: () => states,
    size: states.length,
  }
  return createChainDirectory(memory, loadConfig({ env: {}, cwd: '/' }))
}

describe('amms of a chain', () => {
  it('lists the AMMs of its factories, or of its decoded programs', () => {
    const directory = directoryOf('eth', 'solana', 'unheard-of')
    expect(directory.market('eth')?.amms).toContain('uniswapv3')
    expect(directory.market('solana')?.amms).toEqual([
      ...['launchlab', 'meteora', 'meteoradamm', 'meteoradammv2', 'meteoradbc', 'moonshot', 'orca', 'pump', 'pumpamm'],
      ...['raydium', 'raydiumclmm', 'raydiumcpmm'],
    ])
    expect(directory.market('unheard-of')?.amms).toEqual([])
  })
})

describe('avax', () => {
  const ID = `0x${'ab'.repeat(20)}-avax`

  it('is avalanche', () => {
    const directory = directoryOf('eth', 'avalanche')
    expect(directory.market('avax')?.state.chain).toBe('avalanche')
    expect(parseId(directory, ID, 'token-id')).toMatchObject({ chain: 'avalanche' })
  })

  it('is a chain of its own where one has that name, and unknown where neither is indexed', () => {
    expect(directoryOf('avax', 'avalanche').market('avax')?.state.chain).toBe('avax')
    expect(parseId(directoryOf('eth'), ID, 'token-id')).toMatchObject({ code: 'chain_unknown' })
  })
})

describe('an id that is not known', () => {
  const directory = directoryOf('eth', 'solana', 'recorded')
  const parse = (id: string, what: IdKind) => {
    const parsed = parseId(directory, id, what)
    return 'code' in parsed ? parsed.detail : parsed.address
  }
  const HEX = 'aB'.repeat(20)
  const WSOL = 'So11111111111111111111111111111111111111112'

  it.each<[string, IdKind, string]>([
    ['an address in any case', 'token-id', `0x${HEX}-eth`],
    ['a pool id', 'pair-id', `0x${'ab'.repeat(32)}-eth`],
    ['a pool id among ids of both', 'id', `0x${'ab'.repeat(32)}-eth`],
    ['a bonding curve', 'pair address', `0x${HEX}_fo-eth`],
    ['a Solana key', 'token-id', `${WSOL}-solana`],
    ['a Solana key with many zero bytes', 'token address', '11111111111111111111111111111111-solana'],
    ['a Solana bonding curve', 'pair-id', `${WSOL}_fo-solana`],
    ['anything on a chain without a configured family', 'pair-id', '0xpool_1-recorded'],
  ])('is accepted: %s', (_name, what, id) => {
    const [address = '', chain] = id.split('-')
    expect(parse(id, what)).toBe(chain === 'eth' ? address.toLowerCase() : address)
  })

  it.each<[string, IdKind, string, string]>([
    ['without 0x', 'token-id', `${HEX}-eth`, 'expected a 0x prefix'],
    ['too short', 'token-id', '0x12-eth', 'expected 40 hexadecimal digits after 0x, got 2'],
    [
      'a pair too long',
      'pair-id',
      `0x${HEX}00-eth`,
      'expected 40 hexadecimal digits after 0x (64 for a pool id), got 42',
    ],
    ['a token as long as a pool id', 'token-id', `0x${'ab'.repeat(32)}-eth`, 'after 0x, got 64'],
    ['a curve of a pool id', 'pair-id', `0x${'ab'.repeat(32)}_fo-eth`, 'after 0x, got 64'],
    ['a curve as a token', 'token-id', `0x${HEX}_fo-eth`, '"_" is not a hexadecimal digit'],
    ['not hexadecimal', 'pair address', `0x${'zz'.repeat(20)}-eth`, '"z" is not a hexadecimal digit'],
    ['of another family', 'token-id', `0x${HEX}-solana`, '"0" is not a base58 character'],
    [
      'a lower-cased Solana key',
      'token-id',
      'epjfwdd5aufqssqem2qn1xzybapc8g4weggkzwytdt1v-solana',
      'expected 32 bytes in base58, got 33; upper and lower case matter',
    ],
    ['a Solana key cut short', 'pair-id', `${WSOL.slice(0, -4)}-solana`, 'expected 32 bytes in base58, got 29'],
    ['too many bytes', 'pair-id', `${'z'.repeat(44)}-solana`, 'expected 32 bytes in base58, got 33'],
    ['without 0x on a recorded chain', 'pair-id', 'pool-recorded', 'expected a 0x prefix'],
  ])('is refused with the reason: %s', (_name, what, id, reason) => {
    expect(parse(id, what)).toMatch(/^\S+( address)? ".+" is not a valid address on \w+: /)
    expect(parse(id, what)).toContain(reason)
  })
})
