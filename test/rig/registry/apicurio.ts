/**
 * A real schema registry for tests: Apicurio, which serves Confluent's REST interface and keeps everything in memory. In a container
 * where a Docker engine answers, else as a Java process, fetched once from Maven Central (109 MB) into the user's cache.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { holding, run } from '../python/venv.js'
import { dockerAnswers } from '../servers/container.js'
import { steadyPort } from '../servers/steady-port.js'
import { USER_CACHE } from '../user-cache.js'

/** The newest that runs on Java 17. */
const VERSION = '3.0.9'
const FOLDER = join(USER_CACHE, `apicurio-${VERSION}`)
const RUNNER = `apicurio-registry-app-${VERSION}-runner.jar`
const STARTED_WITHIN_MS = 60_000
const CONTAINER_PORT = 8080
const INTERFACE = '/apis/ccompat/v7'

export type RunningRegistry = { url: string; stop(): Promise<void> }

export async function startRegistry(): Promise<RunningRegistry> {
  return (await dockerAnswers()) ? inContainer() : asProcess()
}

async function inContainer(): Promise<RunningRegistry> {
  const { GenericContainer, Wait } = await import('testcontainers')
  const started = await new GenericContainer(`apicurio/apicurio-registry:${VERSION}`)
    .withExposedPorts(CONTAINER_PORT)
    .withWaitStrategy(Wait.forHttp(`${INTERFACE}/subjects`, CONTAINER_PORT))
    .start()
  const url = `http://${started.getHost()}:${started.getMappedPort(CONTAINER_PORT)}${INTERFACE}`
  return { url, stop: async () => void (await started.stop()) }
}

/** PEM files. */
export type RegistryTls = { cert: string; key: string }

/** Serves TLS only. A Java process. */
export const startSecureRegistry = (tls: RegistryTls): Promise<RunningRegistry> => asProcess(tls)

async function asProcess(tls?: RegistryTls): Promise<RunningRegistry> {
  await install()
  const [port, tlsPort] = [await steadyPort(), await steadyPort()]
  const options = [
    '-Xmx384m',
    '-XX:TieredStopAtLevel=1',
    '-Dquarkus.http.host=127.0.0.1',
    `-Dquarkus.http.port=${port}`,
    ...(tls === undefined ? [] : secureOptions(tls, tlsPort)),
  ]
  const child = spawn('java', [...options, '-jar', RUNNER], { cwd: FOLDER, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  let output = ''
  const started = new Promise<void>((resolve, reject) => {
    const listen = (text: string): void => {
      output = `${output}${text}`.slice(-8000)
    }
    child.stdout.setEncoding('utf8').on('data', listen)
    child.stderr.setEncoding('utf8').on('data', listen)
    child.once('error', (cause) => reject(new Error('the registry does not start: is Java 17 installed?', { cause })))
    child.once('close', (code) => reject(new Error(`the registry ended with ${code}:\n${output}`)))
    const isReady = tls === undefined ? answers(`http://127.0.0.1:${port}${INTERFACE}/subjects`) : listens(tlsPort)
    isReady.then(resolve, () => reject(new Error(`the registry is unreachable:\n${output}`)))
  })
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
  }
  try {
    await started
  } catch (error) {
    await stop()
    throw error
  }
  const origin = tls === undefined ? `http://127.0.0.1:${port}` : `https://127.0.0.1:${tlsPort}`
  return { url: `${origin}${INTERFACE}`, stop }
}

/** https://quarkus.io/guides/http-reference#ssl */
const secureOptions = ({ cert, key }: RegistryTls, port: number): string[] => [
  `-Dquarkus.http.ssl-port=${port}`,
  '-Dquarkus.http.insecure-requests=disabled',
  `-Dquarkus.http.ssl.certificate.files=${cert}`,
  `-Dquarkus.http.ssl.certificate.key-files=${key}`,
]

async function listens(port: number): Promise<void> {
  const deadline = Date.now() + STARTED_WITHIN_MS
  const isOpen = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true))
      socket.on('error', () => resolve(false))
      socket.on('connect', () => socket.destroy())
    })
  while (!(await isOpen())) {
    if (Date.now() > deadline) throw new Error('too late')
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** Quarkus prints nothing once it listens, so it is polled until it answers. */
async function answers(url: string): Promise<void> {
  const deadline = Date.now() + STARTED_WITHIN_MS
  for (;;) {
    const ok = await fetch(url).then(
      (response) => response.ok,
      () => false,
    )
    if (ok) return
    if (Date.now() > deadline) throw new Error('too late')
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** Fetches it where it is not there yet. */
export async function install(): Promise<void> {
  const ready = join(FOLDER, 'ready')
  if (existsSync(ready)) return
  mkdirSync(USER_CACHE, { recursive: true })
  await holding(`${FOLDER}.lock`, async () => {
    if (existsSync(ready)) return
    rmSync(FOLDER, { recursive: true, force: true })
    mkdirSync(FOLDER)
    const artifact = `io.apicurio:apicurio-registry-app:${VERSION}:tar.gz:all`
    const archive = join(FOLDER, 'all.tar.gz')
    // The file alone: newer versions of the goal also want the poms of its parents, which not every mirror has.
    const goal = 'org.apache.maven.plugins:maven-dependency-plugin:2.8:get'
    await must('mvn', ['-B', '-q', goal, `-Dartifact=${artifact}`, '-Dtransitive=false', `-Ddest=${archive}`], 'maven')
    await must('tar', ['xzf', archive, '-C', FOLDER], 'tar')
    rmSync(archive)
    writeFileSync(ready, '')
  })
}

async function must(command: string, args: readonly string[], debianPackage: string): Promise<void> {
  const { code, out } = await run(command, args)
  if (code === 0) return
  throw new Error(
    `The tests fetch a schema registry from Maven Central and could not (apt install ${debianPackage}?): ${command} ${args.join(' ')}\n${out}`,
  )
}
