/**
 * Checks a data directory before anything in it is opened, and repairs what it can: the store and the checkpoints from the log, the
 * log from its readable records and, beyond them, from its source. What cannot be repaired ends the start with the remedy.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openStateStore } from '../../aggregate/checkpoint/state-store.js'
import type { DataDir } from '../../core/data-dir/data-dir.js'
import type { Damage, Repairs } from '../../core/data-dir/repairs.js'
import { ConfigError, DextapeError } from '../../core/domain/errors.js'
import { openEmbeddedLog } from '../../core/log/embedded-log.js'
import { damageMarkOf, dataFileOf, walkLmdbFile } from '../../core/log/lmdb-file.js'
import { blocksOf, blocksTopic, GENERATIONS_TOPIC, updatesTopic } from '../../core/log/port.js'
import { type LostRecords, recordProblemOf, salvageLog, schemaProblemOf } from '../../core/log/salvage-log.js'
import type { Logger } from '../../core/runtime/logger.js'
import { openLocalStore } from '../../core/store/local-store.js'
import type { Store } from '../../core/store/port.js'
import { dropStoreFileList, findChangedFiles, storeFilesOf } from '../../core/store/store-files.js'
import type { ChosenSource } from '../choose-source.js'
import { emptyStore, findBrokenParts, findBrokenTables } from './check-store.js'
import { knownHeads } from './known-heads.js'

export type HealOptions = {
  /** What reads lost blocks again; `any`: whatever a later start reads. */
  source: ChosenSource | { kind: 'any' }
  repairs: Repairs
  logger: Logger
  /** Check every record of the log, not only the structure of its file. */
  isThorough?: boolean
  nowMs?: () => number
}

export const FOLD_AGAIN = 'the chains are folded again from the log'

export async function healAtStart(dir: DataDir, options: HealOptions): Promise<void> {
  const { repairs } = options
  // Nothing was ever written here.
  if (!existsSync(dir.logPath) && !existsSync(dir.statePath) && !existsSync(dir.storePath)) return
  checkKeys(dir)
  // Before anything is removed: it says how far the chains were.
  const before = await knownHeads(dir, { hasLog: false })
  const lostChains = await healLog(dir, options, before)
  healSources(dir, options)
  for (const name of foldersOf(join(dir.path, 'chains'))) healBook(join(dir.path, 'chains', name), repairs)
  for (const chain of await chainsWithoutState(dir)) {
    const what = `The checkpoint of ${chain} is missing`
    repairs.begin({ part: 'state', what, answer: FOLD_AGAIN }, await headsOf(dir, [chain], before))
  }
  for (const chain of foldersOf(dir.statePath)) {
    const path = join(dir.statePath, chain)
    const problem = problemOf(path) ?? (options.isThorough === true ? await valueProblemOf(path) : undefined)
    if (problem === undefined) continue
    removeState(dir, chain)
    const what = `The checkpoint of ${chain} is damaged: ${problem}`
    repairs.begin({ part: 'state', what, answer: FOLD_AGAIN }, await headsOf(dir, [chain], before))
  }
  for (const chain of lostChains) removeState(dir, chain)
  await healStore(dir, repairs, before)
}

/** Chains with updates: a checkpoint is written before the first one. */
async function chainsWithoutState(dir: DataDir): Promise<string[]> {
  if (!existsSync(dataFileOf(dir.logPath))) return []
  const log = openEmbeddedLog({ path: dir.logPath })
  try {
    const topics = await log.topics()
    const folded = topics.flatMap(({ topic, end }) =>
      end > 0 && topic.startsWith(UPDATES) ? [topic.slice(UPDATES.length)] : [],
    )
    const kept = foldersOf(dir.statePath)
    return folded.filter((chain) => !kept.includes(chain))
  } finally {
    await log.close()
  }
}

const UPDATES = updatesTopic('')

/** Returns the chains whose blocks or updates are incomplete. */
async function healLog(dir: DataDir, options: HealOptions, before: Record<string, number>): Promise<string[]> {
  const { logPath } = dir
  const hasFile = existsSync(dataFileOf(logPath))
  const hasRest = foldersOf(dir.statePath).length > 0 || existsSync(storeFilesOf(dir.path))
  const ofFile = !hasFile && hasRest ? 'the file is missing' : problemOf(logPath)
  const isThorough = options.isThorough === true || existsSync(damageMarkOf(logPath))
  const findProblem = isThorough ? recordProblemOf : schemaProblemOf
  const problem = ofFile ?? (hasFile ? await findProblem(logPath) : undefined)
  if (problem === undefined) {
    rmSync(damageMarkOf(logPath), { force: true })
    return []
  }
  const salvage = await salvageLog(logPath)
  const { source, repairs } = options
  /** Without schemas no record can be decoded: nothing is kept. */
  const isGone = !hasFile || salvage.lacksSchemas
  const lost = isGone ? [] : salvage.lost
  const chains = isGone ? Object.keys(before) : chainsOf(lost)
  const lostBlocks = isGone ? chains : lost.flatMap(({ topic }) => blocksOf(topic)?.chain ?? [])
  const extent = isGone ? 'All its records are lost' : extentOf(lost)
  const what = `The log ${dataFileOf(logPath)} is damaged: ${problem}. ${extent}`
  if (source.kind === 'simulator' && lostBlocks.length > 0) {
    salvage.discard()
    return startMarketAgain(dir, repairs, { part: 'log', what, answer: 'the simulated market starts again' })
  }
  const reason = whyUnrecoverable(isGone ? chains.map((chain) => lostWhole(chain)) : lost, source)
  if (reason !== undefined) {
    salvage.discard()
    throw new ConfigError({
      code: 'log_unrecoverable',
      what: `${what}. ${reason}`,
      fix: 'Restore a backup with `dextape restore`, or accept the loss with `dextape repair --accept-loss`.',
    })
  }
  const aside = `${logPath}.damaged-${(options.nowMs ?? Date.now)()}`
  salvage.replace(aside)
  if (isGone) rmSync(logPath, { recursive: true })
  const answers = [
    `readable records are kept, the damaged file is in ${aside}`,
    ...(lostBlocks.length > 0 ? ['lost blocks are read again from their source'] : []),
    ...(chains.length > 0 ? [FOLD_AGAIN] : []),
  ]
  for (const chain of lostBlocks) removeBook(dir, chain)
  const until = await headsOf(dir, chains, source.kind === 'any' ? {} : before)
  repairs.begin({ part: 'log', what, answer: answers.join('; ') }, until)
  return chains
}

const lostWhole = (chain: string): LostRecords => ({ topic: blocksTopic(chain), from: 0, to: null })

function whyUnrecoverable(lost: readonly LostRecords[], source: HealOptions['source']): string | undefined {
  if (source.kind === 'any') return undefined
  if (lost.some(({ topic }) => topic === GENERATIONS_TOPIC)) return 'It no longer says which history of a chain is live'
  if (source.kind === 'recording') return undefined
  const read = source.kind === 'chains' ? source.sources.map(({ chain }) => chain as string) : []
  // A chain without any block starts at its configured start, not where its history began.
  const orphans = lost.flatMap(({ topic, from }) => {
    const chain = blocksOf(topic)?.chain
    return chain === undefined || (read.includes(chain) && from > 0) ? [] : [chain]
  })
  return orphans.length === 0 ? undefined : `No source of this start has the lost blocks of ${orphans.join(', ')}`
}

function extentOf(lost: readonly LostRecords[]): string {
  if (lost.length === 0) return 'No record is lost'
  const ranges = lost.map(({ topic, from, to }) => `${topic} from offset ${from}${to === null ? '' : ` to ${to - 1}`}`)
  return `Lost: ${ranges.join(', ')}`
}

function chainsOf(lost: readonly LostRecords[]): string[] {
  const names = lost.flatMap(({ topic }) => blocksOf(topic)?.chain ?? /^dex\.updates\.([^.]+)$/.exec(topic)?.[1] ?? [])
  return [...new Set(names)]
}

function healSources(dir: DataDir, { repairs, source }: HealOptions): void {
  const problem = problemOf(dir.sourcesPath)
  if (problem === undefined) return
  const what = `The positions of the sources are damaged: ${problem}`
  if (source.kind === 'simulator') {
    startMarketAgain(dir, repairs, { part: 'sources', what, answer: 'the simulated market starts again' })
    return
  }
  rmSync(dir.sourcesPath, { recursive: true, force: true })
  repairs.begin(
    { part: 'sources', what, answer: 'a chain resumes after its last block, a recording is played again' },
    {},
  )
}

function healBook(path: string, repairs: Repairs): void {
  const problem = problemOf(path)
  if (problem === undefined) return
  rmSync(path, { recursive: true, force: true })
  repairs.begin(
    { part: 'book', what: `Known pools and tokens are damaged: ${problem}`, answer: 'they are read again' },
    {},
  )
}

/** Blocks of another run would not continue those that are left. Its data is made up: nothing is lost with it. */
function startMarketAgain(dir: DataDir, repairs: Repairs, damage: Damage): string[] {
  for (const name of ['log', 'log.damaged', 'state', 'store', 'sources', 'simulator', 'chains'])
    rmSync(join(dir.path, name), { recursive: true, force: true })
  dropStoreFileList(dir.path)
  repairs.begin(damage, {})
  return []
}

async function healStore(dir: DataDir, repairs: Repairs, before: Record<string, number>): Promise<void> {
  const unprepared = repairs.list().some(({ isPrepared }) => isPrepared === false)
  const isMissing =
    !existsSync(dir.storePath) && (existsSync(storeFilesOf(dir.path)) || foldersOf(dir.statePath).length > 0)
  const changed = isMissing ? [`the folder ${dir.storePath} is missing`] : findChangedFiles(dir.path)
  if (changed.length === 0 && !unprepared) return
  const heads = await headsOf(dir, Object.keys(await knownHeads(dir, { hasLog: true })), before)
  rmSync(dir.storePath, { recursive: true, force: true })
  for (const chain of foldersOf(dir.statePath)) removeState(dir, chain)
  dropStoreFileList(dir.path)
  repairs.prepared()
  if (changed.length === 0) return
  repairs.begin({ part: 'store', what: storeDamage(changed), answer: `it is rebuilt, ${FOLD_AGAIN}` }, heads)
}

/** Every byte of a store that no process has open; it is opened here. */
export async function healStoppedStore(dir: DataDir, repairs: Repairs): Promise<void> {
  if (!existsSync(dir.storePath)) return
  const store = await openLocalStore(dir.path)
  try {
    await healOpenStore(store, dir, repairs, await findBrokenParts(store, async () => {}))
  } finally {
    await store.close()
  }
}

/** Parts that the engine set aside when it opened the store. Nothing is folded yet. */
export async function healOpenStore(
  store: Store,
  dir: DataDir,
  repairs: Repairs,
  brokenParts: readonly string[] = [],
): Promise<void> {
  const broken = [...(await findBrokenTables(store)), ...brokenParts]
  if (broken.length === 0) return
  const chains = Object.keys(await knownHeads(dir, { hasLog: true }))
  const damage: Damage = { part: 'store', what: storeDamage(broken), answer: `it is rebuilt, ${FOLD_AGAIN}` }
  repairs.begin(damage, await headsOf(dir, chains, {}), false)
  dropStoreFileList(dir.path)
  for (const chain of foldersOf(dir.statePath)) removeState(dir, chain)
  await emptyStore(store)
  repairs.prepared()
}

export function storeDamage(details: readonly string[]): string {
  const more = details.length > 3 ? ` and ${details.length - 3} more` : ''
  return `The store is damaged: ${details.slice(0, 3).join(', ')}${more}`
}

/** A value of a checkpoint with a wrong checksum. */
export async function valueProblemOf(path: string, signal?: AbortSignal): Promise<string | undefined> {
  const state = await openStateStore(path)
  try {
    for (const _entry of state.entries('')) if (signal?.aborted) break
    return undefined
  } catch (error) {
    if (error instanceof DextapeError && error.code === 'state_damaged') return error.message
    throw error
  } finally {
    await state.close()
  }
}

function checkKeys(dir: DataDir): void {
  const problem = problemOf(dir.keysPath)
  if (problem !== undefined)
    throw new ConfigError({
      code: 'keys_damaged',
      what: `The API keys are damaged: ${problem}`,
      fix: `Restore ${dir.keysPath} from a backup, or remove it: the next start then creates and prints a first key.`,
    })
  const spent = join(dir.keysPath, 'spent')
  if (problemOf(spent) !== undefined) rmSync(spent, { recursive: true, force: true })
}

/** What is wrong with the LMDB file in a folder; undefined: nothing, or there is no such folder. */
export function problemOf(path: string): string | undefined {
  if (!existsSync(path)) return undefined
  const file = dataFileOf(path)
  // LMDB creates the file with the folder.
  if (!existsSync(file)) return readdirSync(path).length === 0 ? undefined : `${file} is missing`
  const [problem] = walkLmdbFile(file).problems
  if (problem === undefined) return undefined
  return `${file}${problem.page === undefined ? '' : `, page ${problem.page}`}: ${problem.what}`
}

const removeState = (dir: DataDir, chain: string) =>
  rmSync(join(dir.statePath, chain), { recursive: true, force: true })

/** It may know later blocks than the log now has. */
function removeBook(dir: DataDir, chain: string): void {
  for (const name of foldersOf(join(dir.path, 'chains')))
    if (name === chain || name.startsWith(`${chain}.g`)) rmSync(join(dir.path, 'chains', name), { recursive: true })
}

async function headsOf(dir: DataDir, chains: readonly string[], before: Record<string, number>) {
  const now = await knownHeads(dir, { hasLog: true })
  const heads = chains.map((chain) => [chain, Math.max(now[chain] ?? 0, before[chain] ?? 0)] as const)
  return Object.fromEntries(heads.flatMap(([chain, block]) => (block > 0 ? [[chain, { block, epoch: 0 }]] : [])))
}

function foldersOf(path: string): string[] {
  if (!existsSync(path)) return []
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))
}
