/** Contracts that harm their buyers are never scored as safe, however they are written; the compiled code is that of the sources. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { TRIAL_CODE } from '../../../../../services/ingest/decode/evm/risk/trade-trial-code.js'
import { NOT_SAFE } from '../../../../../services/ingest/decode/risk-score.js'
import { countOf, seedOf } from '../../../../rig/counts.js'
import { compile, compileTokens, TOKENS_FILE, TRIAL_SOURCE } from '../../../../rig/evm/risk/compile.js'
import { mutantSource, TRAP_NAMES } from '../../../../rig/evm/risk/mutants.js'
import { openRiskChain, type RiskChain, sellsForReal } from '../../../../rig/evm/risk/risk-chain.js'
import { createRandom } from '../../../../rig/market/random.js'

const BATCH = 20

let chain: RiskChain
beforeAll(async () => {
  chain = await openRiskChain()
}, 60_000)
afterAll(() => chain?.stop())

test('the compiled code in the repository is that of its sources', async () => {
  expect((await compile(readFileSync(TRIAL_SOURCE, 'utf8'))).Trial?.runtime).toBe(TRIAL_CODE)
  expect(await compileTokens()).toEqual(JSON.parse(readFileSync(TOKENS_FILE, 'utf8')))
}, 300_000)

test('no harmful contract is safe', async () => {
  const random = createRandom(seedOf('riskMutants'))
  const safe: string[] = []
  for (let made = 0; made < countOf('riskMutants'); made += BATCH) {
    const traps = Array.from({ length: BATCH }, (_, place) => TRAP_NAMES[(made + place) % TRAP_NAMES.length] ?? '')
    const source = mutantSource(traps, random)
    const style = random.pick([{}, { isOptimised: false }, { viaIr: true }])
    const compiled = await compile(source, style)
    for (const [place, trap] of traps.entries()) {
      const token = await chain.token(compiled[`M${place}`]?.creation ?? '0x')
      const risk = await chain.risk(token, await chain.pair(token))
      if (Number(risk.risk_score) < NOT_SAFE) safe.push(`${trap} ${JSON.stringify(style)} ${JSON.stringify(risk)}`)
    }
  }
  expect(safe).toEqual([])
}, 900_000)

test('a contract with a changed byte that is called safe can really be sold', async () => {
  const codes = JSON.parse(readFileSync(TOKENS_FILE, 'utf8')) as Record<string, string>
  const random = createRandom(seedOf('riskMutants'))
  const wrong: string[] = []
  let judged = 0
  for (let made = 0; made < countOf('riskMutants'); made += 1) {
    const name = random.pick(['Honeypot', 'Tax10', 'Patient', 'HoneypotViaIr'])
    const code = codes[name] ?? ''
    const at = 2 + 2 * random.int(200, code.length / 2 - 10)
    const byte = random.int(0, 255).toString(16).padStart(2, '0')
    const changed = code.slice(0, at) + byte + code.slice(at + 2)
    try {
      const token = await chain.token(changed)
      const pool = await chain.pair(token)
      const risk = await chain.risk(token, pool)
      judged += 1
      const isSafe = Number(risk.risk_score) < NOT_SAFE
      if (isSafe && !(await sellsForReal(chain, token, pool))) wrong.push(`${name} byte ${at / 2 - 1} = ${byte}`)
    } catch {
      // It cannot be deployed, or its pool cannot be filled: nobody can buy it.
    }
  }
  expect(wrong).toEqual([])
  expect(judged).toBeGreaterThan(countOf('riskMutants') / 4)
}, 900_000)
