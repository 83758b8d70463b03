/**
 * An earlier version of the program, built from git's history into the cache: the newest tag that is wanted, or a commit. Its
 * packages are those of this checkout.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { repositoryRoot } from '../../../schemas/avro.js'
import { DEXTAPE } from '../http/command.js'
import { USER_CACHE } from '../user-cache.js'

export type Release = {
  /** The file that `node` runs. */
  program: string
  /** A commit, or why it is this checkout's own code. */
  name: string
  isPrevious: boolean
  /** It can open a store that this checkout migrated. */
  hasSameTables: boolean
}

/**
 * `same rules`: its numbers are those of this checkout, so its epoch continues; without tags the oldest such commit that lacks no
 * more than one migration.
 * `other rules`: the newest whose numbers differ. `older store`: the newest that lacks a migration.
 */
export type Wanted = 'same rules' | 'other rules' | 'older store'

const ROOT = repositoryRoot()
const RULES_FILE = 'services/aggregate/epoch.ts'
const MIGRATIONS = 'schemas/clickhouse/'
const RULES = /FOLD_RULES = (\d+)/
const COMMIT = /^[0-9a-f]{40}$/

/** Where there is no history (a package, a shallow clone), this checkout's own code: the caller prints the name. */
export function previousRelease(wanted: Wanted): Release {
  const commit = findCommit(wanted)
  if (commit === undefined)
    return {
      program: DEXTAPE,
      name: 'this checkout: git has no earlier commit',
      isPrevious: false,
      hasSameTables: true,
    }
  const program = join(build(commit), 'services/cli/dextape.js')
  return { program, name: commit.slice(0, 8), isPrevious: true, hasSameTables: hasSameTables(commit) }
}

function findCommit(wanted: Wanted): string | undefined {
  const head = git('rev-parse', 'HEAD')
  const tags = git('tag', '--merged', 'HEAD', '--sort=-creatordate', '--list', 'v*').split('\n').filter(Boolean)
  const tagged = tags.map((tag) => git('rev-list', '-n', '1', tag))
  const isWanted = (commit: string) => COMMIT.test(commit) && commit !== head && fits(commit, wanted)
  return [...tagged, untagged(wanted)].find(isWanted)
}

function untagged(wanted: Wanted): string {
  const last = (...args: string[]) => git('log', '-1', '--format=%H', ...args)
  const before = (commit: string) => git('rev-parse', '--verify', '--quiet', `${commit}^`)
  const rulesChanged = last('-GFOLD_RULES = ', '--', RULES_FILE)
  const migrated = before(last('--diff-filter=A', '--', MIGRATIONS))
  if (wanted === 'older store') return migrated
  if (wanted === 'other rules') return before(rulesChanged)
  return fits(migrated, wanted) ? migrated : rulesChanged
}

function fits(commit: string, wanted: Wanted): boolean {
  if (wanted !== 'older store') return (rulesAt(commit) === ownRules()) === (wanted === 'same rules')
  return !hasSameTables(commit)
}

const migrationsAt = (commit: string) => git('ls-tree', '--name-only', commit, MIGRATIONS)
const hasSameTables = (commit: string) => migrationsAt(commit) === migrationsAt('HEAD')

const ownRules = () => RULES.exec(readFileSync(join(ROOT, RULES_FILE), 'utf8'))?.[1]
const rulesAt = (commit: string) => RULES.exec(git('show', `${commit}:${RULES_FILE}`))?.[1]

/** Empty where git has no answer. */
function git(...args: string[]): string {
  return spawnSync('git', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 1 << 26 }).stdout?.trim() ?? ''
}

function build(commit: string): string {
  const folder = join(USER_CACHE, 'releases', commit)
  if (existsSync(folder)) {
    // The checkout that built it may be gone.
    linkPackages(folder)
    return folder
  }
  mkdirSync(join(USER_CACHE, 'releases'), { recursive: true })
  const part = mkdtempSync(`${folder}.part-`)
  try {
    run(part, 'sh', '-c', `git -C "$0" archive ${commit} | tar -x`, ROOT)
    linkPackages(part)
    // What was left unused then is no reason not to run it now.
    const lenient = ['--noUnusedLocals', 'false', '--noUnusedParameters', 'false']
    run(part, process.execPath, 'node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', ...lenient)
    run(part, process.execPath, 'infra/bundle.mjs')
    // Serve demands pages, and no test of a release looks at them.
    cpSync(join(ROOT, 'dist/dashboard'), join(part, 'dist/dashboard'), { recursive: true })
    rmSync(join(part, 'dist/services'), { recursive: true })
    // Renamed last: a folder of this name is complete.
    renameSync(part, folder)
  } finally {
    rmSync(part, { recursive: true, force: true })
  }
  return folder
}

function linkPackages(folder: string): void {
  const link = join(folder, 'node_modules')
  rmSync(link, { force: true })
  symlinkSync(join(ROOT, 'node_modules'), link)
}

function run(cwd: string, command: string, ...args: string[]): void {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} in ${cwd} ended with ${status}\n${stdout}${stderr}`)
}
