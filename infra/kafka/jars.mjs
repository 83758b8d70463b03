// The broker's jars, fetched once with Maven into the user's cache. Several processes at once wait for the one that fetches.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { BrokerError, requireMaven, run } from './programs.mjs'

const POM = fileURLToPath(new URL('pom.xml', import.meta.url))
const FETCH_WITHIN_MS = 15 * 60_000
const TELL_EVERY_MS = 5_000

export const KAFKA_VERSION = /<kafka\.version>([^<]+)</.exec(readFileSync(POM, 'utf8'))?.[1]

const CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'dextape')
export const JARS = join(CACHE, `kafka-${KAFKA_VERSION}`)

/** Runs `work` while no other process prepares the cache. `tell` hears what takes time. */
export async function withCache(tell, work) {
  mkdirSync(CACHE, { recursive: true })
  await holding(`${JARS}.lock`, tell, work)
}

/** Resolves once the jars are in JARS. */
export async function fetchJars(tell) {
  if (existsSync(JARS)) return
  requireMaven()
  const fetched = `${JARS}.part`
  rmSync(fetched, { recursive: true, force: true })
  await copyDependencies(fetched, tell)
  // Whoever sees the folder sees it whole.
  renameSync(fetched, JARS)
}

async function copyDependencies(folder, tell) {
  tell(`fetching Kafka ${KAFKA_VERSION} with Maven into ${JARS} (about 54 MB, once)`)
  const startedMs = Date.now()
  let files = 0
  let toldMs = startedMs
  const goal = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies'
  await run('mvn', ['-B', '-f', POM, goal, `-DoutputDirectory=${folder}`], (line) => {
    if (/Downloaded from/.test(line)) files++
    if (Date.now() - toldMs < TELL_EVERY_MS) return
    toldMs = Date.now()
    tell(`${files} files after ${Math.round((toldMs - startedMs) / 1000)} s`)
  })
  tell(`fetched in ${Math.round((Date.now() - startedMs) / 1000)} s`)
}

/** A folder is the lock: making it succeeds once. One left behind by a process that is gone is taken over. */
async function holding(lock, tell, work) {
  const owner = join(lock, 'pid')
  const deadline = Date.now() + FETCH_WITHIN_MS
  for (let told = false; !taken(lock); told = true) {
    if (!told) tell(`waiting for another process that fetches it (${lock})`)
    if (isAbandoned(owner)) rmSync(lock, { recursive: true, force: true })
    if (Date.now() > deadline) throw new BrokerError(`${lock} is still held; remove it if nobody fetches Kafka`)
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
