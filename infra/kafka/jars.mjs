// The broker's jars, downloaded once with Maven to the user's cache. Concurrent processes wait for the one that downloads.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { BrokerError, requireMaven, run } from './programs.mjs'

const POM = fileURLToPath(new URL('pom.xml', import.meta.url))
const FETCH_WITHIN_MS = 15 * 60_000
const REPORT_EVERY_MS = 5_000

export const KAFKA_VERSION = /<kafka\.version>([^<]+)</.exec(readFileSync(POM, 'utf8'))?.[1]

const CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'dextape')
export const JARS = join(CACHE, `kafka-${KAFKA_VERSION}`)

/** Runs `work` while no other process prepares the cache; `report` gets its progress. */
export async function withCache(report, work) {
  mkdirSync(CACHE, { recursive: true })
  await holding(`${JARS}.lock`, report, work)
}

/** Resolves once the jars are in JARS. */
export async function fetchJars(report) {
  if (existsSync(JARS)) return
  requireMaven()
  const fetched = `${JARS}.part`
  rmSync(fetched, { recursive: true, force: true })
  await copyDependencies(fetched, report)
  // Renamed last: a folder of this name is complete.
  renameSync(fetched, JARS)
}

async function copyDependencies(folder, report) {
  report(`fetching Kafka ${KAFKA_VERSION} with Maven into ${JARS} (about 54 MB, once)`)
  const startedMs = Date.now()
  let files = 0
  let reportedMs = startedMs
  const goal = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies'
  await run('mvn', ['-B', '-f', POM, goal, `-DoutputDirectory=${folder}`], (line) => {
    if (/Downloaded from/.test(line)) files++
    if (Date.now() - reportedMs < REPORT_EVERY_MS) return
    reportedMs = Date.now()
    report(`${files} files downloaded after ${Math.round((reportedMs - startedMs) / 1000)} s`)
  })
  report(`fetched in ${Math.round((Date.now() - startedMs) / 1000)} s`)
}

/** A folder is the lock: only one process can create it. A lock of a dead process is taken over. */
async function holding(lock, report, work) {
  const owner = join(lock, 'pid')
  const deadline = Date.now() + FETCH_WITHIN_MS
  for (let isReported = false; !taken(lock); isReported = true) {
    if (!isReported) report(`waiting for another process that is fetching Kafka (${lock})`)
    if (isAbandoned(owner)) rmSync(lock, { recursive: true, force: true })
    if (Date.now() > deadline)
      throw new BrokerError(`Timed out waiting for ${lock}. Remove it if no other process is fetching Kafka`)
    await sleep(200)
  }
  try {
    writeFileSync(owner, String(process.pid))
    await work()
  } finally {
    rmSync(lock, { recursive: true, force: true })
  }
}

function taken(lock) {
  try {
    mkdirSync(lock)
    return true
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw error
  }
}

function isAbandoned(owner) {
  if (!existsSync(owner)) return false
  try {
    process.kill(Number(readFileSync(owner, 'utf8')), 0)
    return false
  } catch {
    return true
  }
}
