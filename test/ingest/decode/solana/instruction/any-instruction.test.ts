/** Instructions of every name with random accounts, data, transfers and events: a decoder may only reject them. */
import { expect, test } from 'vitest'
import {
  eventDiscriminator,
  instructionDiscriminator,
} from '../../../../../services/ingest/decode/solana/instruction/read-instruction.js'
import type { Program } from '../../../../../services/ingest/decode/solana/program-decoder.js'
import { whirlpool } from '../../../../../services/ingest/decode/solana/programs/orca/whirlpool.js'
import { launchLab } from '../../../../../services/ingest/decode/solana/programs/raydium/launchlab.js'
import { raydiumClmm } from '../../../../../services/ingest/decode/solana/programs/raydium/raydium-clmm.js'
import { raydiumCpmm } from '../../../../../services/ingest/decode/solana/programs/raydium/raydium-cpmm.js'
import { raydiumV4 } from '../../../../../services/ingest/decode/solana/programs/raydium/raydium-v4.js'
import { createRandom } from '../../../../rig/market/random.js'
import { garble, type Random } from '../garble.js'
import { bytes, hex, made, transactionOf } from '../instruction-rig.js'

type Known = { program: Program; instructions: readonly Uint8Array[]; events: readonly Uint8Array[] }

const named = (names: readonly string[]) => names.map((name) => hex(instructionDiscriminator(name)))
const reported = (names: readonly string[]) => names.map((name) => hex(eventDiscriminator(name)))

const KNOWN: readonly Known[] = [
  { program: raydiumV4, instructions: [1, 3, 4, 9, 11, 16, 17].map((tag) => Uint8Array.of(tag)), events: [] },
  {
    program: raydiumCpmm,
    instructions: named(['swap_base_input', 'swap_base_output', 'deposit', 'withdraw', 'initialize']),
    events: reported(['SwapEvent', 'LpChangeEvent']),
  },
  {
    program: raydiumClmm,
    instructions: named([
      ...[
        'swap',
        'swap_v2',
        'swap_router_base_in',
        'create_pool',
        'open_position_v2',
        'open_position_with_token22_nft',
      ],
      ...['increase_liquidity_v2', 'decrease_liquidity_v2'],
    ]),
    events: reported(['SwapEvent', 'CreatePersonalPositionEvent', 'IncreaseLiquidityEvent', 'DecreaseLiquidityEvent']),
  },
  {
    program: launchLab,
    instructions: named(['initialize_v2', 'buy_exact_in', 'sell_exact_out', 'migrate_to_amm', 'migrate_to_cpswap']),
    events: reported(['TradeEvent', 'PoolCreateEvent']),
  },
  {
    program: whirlpool,
    instructions: named([
      ...['swap', 'swap_v2', 'two_hop_swap', 'two_hop_swap_v2', 'initialize_pool_v2', 'increase_liquidity'],
      ...['decrease_liquidity_v2', 'reposition_liquidity_v2'],
    ]),
    events: reported(['Traded', 'LiquidityIncreased', 'LiquidityDecreased', 'LiquidityRepositioned']),
  },
]

function sampleOf({ program, instructions, events }: Known, random: Random) {
  const below = (limit: number) => Math.floor(random() * limit)
  // Mostly zeros, because other bytes are rarely a valid bool.
  const noise = (length: number) => Uint8Array.from({ length }, () => (random() < 0.8 ? 0 : below(256)))
  const accounts = Array.from({ length: below(36) }, (_, place) => `account${random() < 0.05 ? 1 : place}`)
  const any = () => accounts[below(accounts.length)] ?? 'nobody'
  const sent = Array.from({ length: below(6) }, () => ({
    ...{ mint: any(), source: any(), destination: any(), amount: BigInt(below(1000)) },
  }))
  const log = Buffer.from(bytes(Uint8Array.of(below(6)), noise(below(140)))).toString('base64')
  const instruction = made(program, {
    ...{ accounts, sent },
    data: bytes(instructions[below(instructions.length)] ?? noise(8), noise(below(60))),
    programData: events.filter(() => random() < 0.7).map((event) => bytes(event, noise(80 + below(160)))),
    programLogs: random() < 0.5 ? [`ray_log: ${log}`] : [],
  })
  const held = accounts.map((account) => ({
    ...{ account, mint: `mint${below(4)}`, owner: any(), pre: BigInt(below(1000)), post: BigInt(below(1000)) },
  }))
  return { instruction, transaction: transactionOf(instruction, held) }
}

test.each(KNOWN.map((known) => [known.program.name, known] as const))('%s', (_name, known) => {
  const random = createRandom(11).next
  const samples = Array.from({ length: 1_500 }, () => sampleOf(known, random))
  const { decoded, refused } = garble(known.program, samples, { seed: 12, times: 3_000 })
  expect(decoded + refused).toBe(3_000)
  expect(refused).toBeGreaterThan(500)
})
