/** The quote tokens of a chain are checked on chain before anything is read. */
import { expect, test } from 'vitest'
import { BUILT_IN_CHAINS } from '../../../../services/core/config/built-in-chains.js'
import type { ChainFacts } from '../../../../services/core/domain/chains.js'
import { createLogger, silentLogger } from '../../../../services/core/runtime/logger.js'
import { TOKEN, WRAPPED_SOL } from '../../../../services/ingest/decode/solana/native-programs.js'
import { checkConfiguredMints } from '../../../../services/ingest/sources/solana/open-solana-source.js'
import { createTokenFacts } from '../../../../services/ingest/sources/solana/token-facts.js'
import { key } from '../../decode/solana/anchor-calls.js'
import { startMachine } from '../../decode/solana/token/machine.js'
import { realAccounts, USDC, USDC_METADATA } from '../../decode/solana/token/real-accounts.js'
import { createMint, openAccount } from '../../decode/solana/token/token-calls.js'

const USDT_OF_ETH = '0xdac17f958d2ee523a2206206994597c13d831ec7'
const { signal } = new AbortController()
const machine = startMachine(key('payer'))
for (const [address, account] of realAccounts()) machine.put(address, { ...account, lamports: 10n ** 9n })
const stable = key('stable')
createMint(machine, stable, { program: TOKEN, decimals: 6, mintAuthority: key('maker') })
const reader = createTokenFacts(machine.accounts)

function factsOf(stables: string[]): ChainFacts {
  return {
    ...{ chain: 'solana', family: 'solana', title: 'Solana' },
    ...{ anchor: USDC, native: WRAPPED_SOL, stables, majors: [] },
  }
}

test('accepts mints of the chain, with their symbols', async () => {
  const checked = await checkConfiguredMints(reader, factsOf([stable]), new Set([stable]), silentLogger, signal)
  expect(checked.map(({ rank, facts }) => [rank, facts?.symbol, facts?.decimals])).toEqual([
    ['anchor', 'USDC', 6],
    ['native', null, 9],
    ['stables', null, 6],
  ])
})

test('rejects a token of another chain and names that chain, and rejects an account that is not a mint', async () => {
  const account = key('an account of it')
  openAccount(machine, TOKEN, account, stable, key('user'))
  const given = [USDT_OF_ETH, account, USDC_METADATA, key('nowhere')]
  const check = checkConfiguredMints(reader, factsOf(given), new Set(given), silentLogger, signal)
  const reasons = given.map((token) => `"stables" ${token} is not a mint on this cluster`)
  reasons[0] += ', it is a token of eth (its stable)'
  await expect(check).rejects.toMatchObject({
    ...{ name: 'ConfigError', code: 'configured_token' },
    message:
      `Configured token not found on this chain: ${reasons.join('; ')} (chain solana); expected mints of the Token or the Token-2022 program. ` +
      'Set their addresses on solana in "chains.solana", or remove them.',
  })
})

test('only warns about a built-in token', async () => {
  const lines: string[] = []
  const logger = createLogger('json', {}, (line) => lines.push(line))
  const builtIn = BUILT_IN_CHAINS.find(({ chain }) => chain === 'solana')
  if (builtIn === undefined) throw new Error('solana is not built in')
  await checkConfiguredMints(reader, builtIn, new Set(), logger, signal)
  expect(lines).toHaveLength(1)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    ...{ level: 'warn', chain: 'solana' },
    tokens: ['stables Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB'],
  })
})

test('does not report a node that cannot answer as a configuration error', async () => {
  const broken = new Error('the node is away')
  const away = createTokenFacts(() => Promise.reject(broken))
  await expect(checkConfiguredMints(away, factsOf([]), new Set(), silentLogger, signal)).rejects.toBe(broken)
})
