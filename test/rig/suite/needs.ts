/**
 * What the tests need beside Node, looked for once before the first of them. Where it may (root on Debian or Ubuntu) everything
 * missing is installed; elsewhere one message lists it all, with one command that gets it.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dockerAnswers } from '../servers/container.js'

export type Machine = {
  env: NodeJS.ProcessEnv
  hasDocker: boolean
  isRoot: boolean
  /** Of /etc/os-release; empty where there is none. */
  osRelease: string
  hasFile(path: string): boolean
}

export type Need = { name: string; why: string; packages: readonly string[] }

const OLDEST_JAVA = 17
const CHROMIUM_PATHS = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/opt/google/chrome/chrome',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

/** Only CHROMIUM_PATH if it is set, else the usual paths. */
export function chromiumCandidates({ CHROMIUM_PATH: named = '' }: NodeJS.ProcessEnv): readonly string[] {
  return named === '' ? CHROMIUM_PATHS : [named]
}

export async function thisMachine(): Promise<Machine> {
  const osRelease = existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : ''
  return {
    ...{ env: process.env, hasDocker: await dockerAnswers(), isRoot: process.getuid?.() === 0, osRelease },
    hasFile: existsSync,
  }
}

export function missingNeeds(machine: Machine): Need[] {
  const { env, hasDocker, hasFile } = machine
  const answer = (program: string, ...args: string[]) => spawnSync(program, args, { env, encoding: 'utf8' })
  const works = (program: string, ...args: string[]) => answer(program, ...args).status === 0
  const javaVersion = Number(/version "(\d+)/.exec(answer('java', '-version').stderr ?? '')?.[1] ?? 0)
  const needs: (Need & { isThere: boolean })[] = [
    {
      ...{ name: `Java ${OLDEST_JAVA} or newer (or a Docker engine)`, why: 'Kafka and the schema registry run on it' },
      ...{ packages: [javaPackage(machine)], isThere: hasDocker || javaVersion >= OLDEST_JAVA },
    },
    {
      ...{ name: 'Maven (or a Docker engine)', why: 'fetches Kafka and the schema registry, once' },
      ...{ packages: ['maven'], isThere: hasDocker || works('mvn', '-version') },
    },
    {
      ...{ name: 'Chromium', why: 'opens the pages; CHROMIUM_PATH names another browser of its kind' },
      ...{ packages: ['chromium'], isThere: chromiumCandidates(env).some(hasFile) },
    },
    {
      ...{ name: 'Python 3 with venv', why: 'runs schemathesis, the example consumer and the Python client' },
      ...{ packages: ['python3', 'python3-venv'], isThere: works('python3', '-c', 'import venv, ensurepip') },
    },
    {
      ...{ name: 'curl', why: 'runs the README’s examples' },
      ...{ packages: ['curl', 'ca-certificates'], isThere: works('curl', '--version') },
    },
  ]
  return needs.flatMap(({ isThere, ...need }) => (isThere ? [] : [need]))
}

/** Debian 13 and later have no Java 17. */
function javaPackage({ osRelease }: Machine): string {
  const isNewDebian = /^ID=debian$/m.test(osRelease) && Number(/^VERSION_ID="?(\d+)/m.exec(osRelease)?.[1] ?? 13) >= 13
  return isNewDebian ? 'openjdk-21-jre-headless' : 'openjdk-17-jre-headless'
}

export const isDebianLike = ({ osRelease }: Machine): boolean => /^ID(_LIKE)?=.*\b(debian|ubuntu)\b/m.test(osRelease)

export function installCommand(missing: readonly Need[], machine: Machine): string {
  const packages = missing.flatMap((need) => need.packages)
  if (isDebianLike(machine)) {
    const apt = `apt-get update && apt-get install -y --no-install-recommends ${packages.join(' ')}`
    return machine.isRoot ? apt : `sudo sh -c '${apt}'`
  }
  if (/^ID(_LIKE)?=.*\b(fedora|rhel)\b/m.test(machine.osRelease))
    return `sudo dnf install -y ${packages.flatMap((name) => FEDORA[name] ?? name).join(' ')}`
  return `brew install ${packages.flatMap((name) => HOMEBREW[name] ?? name).join(' ')}`
}

/** Where packages have other names than Debian's; the empty ones are part of another. */
const FEDORA: Record<string, readonly string[]> = {
  ...{ 'openjdk-17-jre-headless': ['java-21-openjdk-headless'], 'python3-venv': [] },
}
const HOMEBREW: Record<string, readonly string[]> = {
  ...{ 'openjdk-17-jre-headless': ['openjdk@17'], python3: ['python@3'], 'python3-venv': [] },
}

export function missingMessage(missing: readonly Need[], machine: Machine): string {
  const lines = missing.map(({ name, why }) => `  - ${name}: ${why}`)
  return `The tests need what is missing here:\n${lines.join('\n')}\nInstall all of it:\n  ${installCommand(missing, machine)}\n`
}

/** Resolves once everything is there; otherwise throws the one message. `install` runs a shell command. */
export async function ensureNeeds(
  look: () => Promise<Machine> = thisMachine,
  install: (command: string) => number | null = runInstall,
): Promise<void> {
  const machine = await look()
  const missing = missingNeeds(machine)
  if (missing.length === 0) return
  if (!machine.isRoot || !isDebianLike(machine)) throw new Error(missingMessage(missing, machine))
  const command = installCommand(missing, machine)
  const code = install(command)
  const still = missingNeeds(await look())
  if (still.length > 0) throw new Error(`The installation ended with ${code}.\n${missingMessage(still, machine)}`)
}

function runInstall(command: string): number | null {
  process.stderr.write(`Installing what the tests need: ${command}\n`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  return spawnSync('sh', ['-c', command], { env, stdio: ['ignore', 'ignore', 'inherit'] }).status
}
