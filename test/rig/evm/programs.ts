/** Starts a local node: anvil if it is built for the platform, else hardhat. Both have the same methods. */
import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { ANVIL, fetched, HARDHAT } from './fetched.js'

export type NodeKind = 'anvil' | 'hardhat'

export type NodeOptions = {
  chainId: number
  /** Mines by itself; without it a block comes with each transaction, or by `mine`. */
  blockTimeS?: number
  /** Time of the genesis block; by default the current time. */
  genesisTimeS?: number
  /** The `finalized` tag is two epochs behind the head (anvil only). */
  slotsInAnEpoch?: number
  /** A dump of an earlier node's chain to start from (anvil only). */
  stateFile?: string
  kind?: NodeKind
}

export type Program = { command: string; args: readonly string[]; cwd: string; removeData(): void }

export const ACCOUNTS = 10
const BALANCE_ETHER = 1_000_000_000
const BLOCK_GAS = 1_000_000_000
/** The newest version both support; Uniswap V4 needs transient storage. */
const HARDFORK = 'cancun'

export function nodeKind(): NodeKind {
  return process.platform === 'linux' && process.arch === 'x64' ? 'anvil' : 'hardhat'
}

export function programOf(options: NodeOptions, port: number): Promise<Program> {
  return (options.kind ?? nodeKind()) === 'anvil' ? anvil(options, port) : hardhat(options, port)
}

/** Fetches ahead, so that no test timeout has to cover it. */
export async function fetchNode(): Promise<void> {
  await fetched(nodeKind() === 'anvil' ? ANVIL : HARDHAT)
}

async function anvil(options: NodeOptions, port: number): Promise<Program> {
  const command = join(await fetched(ANVIL), 'bin/anvil')
  chmodSync(command, 0o755)
  const cwd = mkdtempSync(join(tmpdir(), 'dextape-anvil-'))
  const { chainId, blockTimeS, genesisTimeS, slotsInAnEpoch, stateFile } = options
  const args = [
    ...['--host', '127.0.0.1', '--port', String(port), '--chain-id', String(chainId), '--accounts', String(ACCOUNTS)],
    ...['--balance', String(BALANCE_ETHER)],
    ...['--hardfork', HARDFORK, '--order', 'fifo', '--gas-limit', String(BLOCK_GAS), '--base-fee', '0'],
    // Keeps earlier states here instead of the user's home.
    ...['--cache-path', cwd, '--disable-code-size-limit', '--quiet', '--no-request-size-limit'],
    ...(blockTimeS === undefined ? [] : ['--block-time', String(blockTimeS)]),
    ...(genesisTimeS === undefined ? [] : ['--timestamp', String(genesisTimeS)]),
    ...(slotsInAnEpoch === undefined ? [] : ['--slots-in-an-epoch', String(slotsInAnEpoch)]),
    ...(stateFile === undefined ? [] : ['--load-state', stateFile]),
  ]
  return { command, args, cwd, removeData: () => rmSync(cwd, { recursive: true, force: true }) }
}

async function hardhat({ chainId, blockTimeS, genesisTimeS }: NodeOptions, port: number): Promise<Program> {
  const installed = await fetched(HARDHAT)
  const cwd = mkdtempSync(join(tmpdir(), 'dextape-hardhat-'))
  // It resolves itself from the folder of its configuration.
  symlinkSync(dirname(installed), join(cwd, 'node_modules'))
  const network = {
    chainId,
    hardfork: HARDFORK,
    accounts: { count: ACCOUNTS, accountsBalance: `${BALANCE_ETHER}${'0'.repeat(18)}` },
    blockGasLimit: BLOCK_GAS,
    initialBaseFeePerGas: 0,
    allowUnlimitedContractSize: true,
    // Failing transactions are mined too, as on a real chain.
    throwOnTransactionFailures: false,
    mining: { auto: blockTimeS === undefined, interval: (blockTimeS ?? 0) * 1000, mempool: { order: 'fifo' } },
    ...(genesisTimeS === undefined ? {} : { initialDate: new Date(genesisTimeS * 1000).toISOString() }),
  }
  writeFileSync(join(cwd, 'package.json'), '{"private":true}')
  writeFileSync(
    join(cwd, 'hardhat.config.js'),
    `module.exports = ${JSON.stringify({ solidity: '0.8.26', networks: { hardhat: network } })}`,
  )
  const args = [join(installed, 'internal/cli/bootstrap.js'), 'node', '--hostname', '127.0.0.1', '--port', String(port)]
  return { command: process.execPath, args, cwd, removeData: () => rmSync(cwd, { recursive: true, force: true }) }
}
