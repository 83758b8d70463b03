/**
 * Compiles the Solidity of these tests with solc from the npm registry (fetched once, long runs only). `npm test` uses
 * tokens.json; `node dist/test/rig/evm/risk/compile.js` writes it again.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

import { repositoryRoot } from '../../../../schemas/avro.js'
import { fetched, type Part } from '../fetched.js'

const FOLDER = join(repositoryRoot(), 'test/rig/evm/risk')
export const TOKENS_FILE = join(FOLDER, 'tokens.json')
export const TRIAL_SOURCE = join(repositoryRoot(), 'services/ingest/decode/evm/risk/trade-trial.sol')

const solc = (version: string): Part => ({
  package: 'solc',
  version,
  as: 'whole',
  why: 'it compiles the Solidity of the tests (9 MB, once)',
})
export const NEWEST = '0.8.28'
const OLD = ['0.4.26', '0.5.17', '0.6.12', '0.7.6']

export type Compiled = { creation: string; runtime: string }
export type CompileOptions = { version?: string; isOptimised?: boolean; viaIr?: boolean }

type Compiler = { compile(input: string): string; compileStandardWrapper?(input: string): string }

type Output = {
  errors?: { severity: string; formattedMessage: string }[]
  contracts?: Record<
    string,
    Record<string, { evm: { bytecode: { object: string }; deployedBytecode: { object: string } } }>
  >
}

/** Creation and runtime code by contract, without metadata, so that it depends on the source alone. */
export async function compile(source: string, options: CompileOptions = {}): Promise<Record<string, Compiled>> {
  const { version = NEWEST, isOptimised = true, viaIr = false } = options
  const folder = await fetched(solc(version))
  const compiler = createRequire(import.meta.url)(folder) as Compiler
  // Before 0.5, `compile` has another form of input.
  const run = compiler.compileStandardWrapper ?? compiler.compile
  const isNew = version.startsWith('0.8')
  const settings = {
    optimizer: { enabled: isOptimised, runs: 200 },
    ...(isNew ? { evmVersion: 'paris', metadata: { bytecodeHash: 'none', appendCBOR: false }, viaIR: viaIr } : {}),
    outputSelection: { '*': { '*': ['evm.bytecode.object', 'evm.deployedBytecode.object'] } },
  }
  const input = { language: 'Solidity', sources: { source: { content: source } }, settings }
  const { errors = [], contracts = {} } = JSON.parse(run(JSON.stringify(input))) as Output
  const failed = errors.filter(({ severity }) => severity === 'error')
  if (failed.length > 0) throw new Error(failed.map(({ formattedMessage }) => formattedMessage).join('\n'))
  return Object.fromEntries(
    Object.entries(contracts.source ?? {}).map(([name, { evm }]) => [
      name,
      { creation: `0x${evm.bytecode.object}`, runtime: `0x${evm.deployedBytecode.object}` },
    ]),
  )
}

/** Creation code of every token, by name. */
export async function compileTokens(): Promise<Record<string, string>> {
  const source = readFileSync(join(FOLDER, 'tokens.sol'), 'utf8')
  const old = readFileSync(join(FOLDER, 'old-tokens.sol'), 'utf8')
  const lockers = readFileSync(join(FOLDER, 'lockers.sol'), 'utf8')
  const exchanges = readFileSync(join(FOLDER, 'exchanges.sol'), 'utf8')
  const all: Record<string, string> = {}
  for (const text of [source, lockers, exchanges])
    for (const [name, { creation }] of Object.entries(await compile(text))) if (creation !== '0x') all[name] = creation
  for (const [suffix, options] of [
    ['Unoptimised', { isOptimised: false }],
    ['ViaIr', { viaIr: true }],
  ] as const)
    for (const [name, { creation }] of Object.entries(await compile(source, options)))
      if (name === 'PlainOwned' || name === 'Honeypot') all[`${name}${suffix}`] = creation
  for (const version of OLD)
    for (const [name, { creation }] of Object.entries(await compile(old, { version })))
      all[`${name}${version}`] = creation
  return all
}

if (process.argv[1] === new URL(import.meta.url).pathname)
  writeFileSync(TOKENS_FILE, `${JSON.stringify(await compileTokens(), null, 1)}\n`)
