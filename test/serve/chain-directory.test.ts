import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../services/core/config/index.js'
import { createChainDirectory } from '../../services/serve/chain-directory.js'
import { createServedChain } from '../../services/serve/memory/served-chain.js'

describe('amms of a chain', () => {
  it('lists the AMMs of its factories, or of its decoded programs', () => {
    const states = ['eth', 'solana', 'unheard-of'].map((chain) => createServedChain(chain))
    const memory = {
      chain: (name: string) => states.find(({ chain }) => chain === name),
      chains: () => states,
      size: states.length,
    }
    const directory = createChainDirectory(memory, loadConfig({ env: {}, cwd: '/' }))
    expect(directory.market('eth')?.amms).toContain('uniswapv3')
    expect(directory.market('solana')?.amms).toEqual([
      ...['launchlab', 'meteora', 'meteoradamm', 'meteoradammv2', 'meteoradbc', 'moonshot', 'orca', 'pump', 'pumpamm'],
      ...['raydium', 'raydiumclmm', 'raydiumcpmm'],
    ])
    expect(directory.market('unheard-of')?.amms).toEqual([])
  })
})
