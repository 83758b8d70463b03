import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { ensureNeeds, installCommand, type Machine, missingMessage, missingNeeds } from '../rig/suite/needs.js'

const DEBIAN_12 = 'ID=debian\nVERSION_ID="12"\n'
const DEBIAN_13 = 'ID=debian\nVERSION_ID="13"\n'
const UBUNTU = 'ID=ubuntu\nID_LIKE=debian\nVERSION_ID="24.04"\n'

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

const WORKING = {
  java: 'echo \'openjdk version "17.0.13" 2024\' >&2',
  mvn: 'echo Maven',
  python3: 'exit 0',
  curl: 'echo curl',
}

/** A PATH with only these programs. */
function machineWith(programs: Record<string, string>, given: Partial<Machine> = {}): Machine {
  const folder = mkdtempSync(join(tmpdir(), 'dextape-path-'))
  folders.push(folder)
  for (const [name, script] of Object.entries(programs)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`)
    chmodSync(join(folder, name), 0o755)
  }
  return {
    ...{ env: { PATH: folder }, hasDocker: false, isRoot: false, osRelease: DEBIAN_12 },
    ...{ hasFile: (path: string) => path === '/usr/bin/chromium', ...given },
  }
}

const without = (...names: (keyof typeof WORKING)[]) =>
  Object.fromEntries(Object.entries(WORKING).filter(([name]) => !names.includes(name as keyof typeof WORKING)))

const namesOf = (machine: Machine) => missingNeeds(machine).map(({ name }) => name)

describe('what the tests need besides Node', () => {
  it('is found on the PATH', () => {
    expect(missingNeeds(machineWith(WORKING))).toEqual([])
  })

  it.each([
    ['no Java', without('java'), {}, ['Java 17 or newer (or a Docker engine)']],
    [
      'an old Java',
      { ...WORKING, java: 'echo \'version "11.0.2"\' >&2' },
      {},
      ['Java 17 or newer (or a Docker engine)'],
    ],
    ['no Maven', without('mvn'), {}, ['Maven (or a Docker engine)']],
    ['no Java and no Maven, but a Docker engine', without('java', 'mvn'), { hasDocker: true }, []],
    ['a Python without venv', { ...WORKING, python3: 'exit 1' }, {}, ['Python 3 with venv']],
    ['no browser', WORKING, { hasFile: () => false }, ['Chromium']],
  ])('%s', (_, programs, given, expected) => {
    expect(namesOf(machineWith(programs, given))).toEqual(expected)
  })

  it('accepts only the browser in CHROMIUM_PATH, if set', () => {
    const machine = machineWith(WORKING)
    const named = { ...machine, env: { ...machine.env, CHROMIUM_PATH: '/opt/mine' } }
    expect(namesOf(named)).toEqual(['Chromium'])
    expect(namesOf({ ...named, hasFile: (path) => path === '/opt/mine' })).toEqual([])
  })

  it('is listed in one message with one command', async () => {
    const machine = machineWith({}, { hasFile: () => false })
    const message = missingMessage(missingNeeds(machine), machine)
    expect(message).toBe(
      [
        'The tests need what is missing here:',
        '  - Java 17 or newer (or a Docker engine): Kafka and the schema registry run on it',
        '  - Maven (or a Docker engine): fetches Kafka and the schema registry, once',
        '  - Chromium: opens the pages; CHROMIUM_PATH names another browser of its kind',
        '  - Python 3 with venv: runs schemathesis, the example consumer and the Python client',
        '  - curl: runs the README’s examples',
        'Install all of it:',
        "  sudo sh -c 'apt-get update && apt-get install -y --no-install-recommends openjdk-17-jre-headless maven chromium " +
          "python3 python3-venv curl ca-certificates'\n",
      ].join('\n'),
    )
    const refused = () => {
      throw new Error('nothing may be installed')
    }
    await expect(ensureNeeds(async () => machine, refused)).rejects.toThrow(message)
  })

  it.each([
    [DEBIAN_13, 'apt-get update && apt-get install -y --no-install-recommends openjdk-21-jre-headless maven'],
    [UBUNTU, 'apt-get update && apt-get install -y --no-install-recommends openjdk-17-jre-headless maven'],
    ['ID=fedora\n', 'sudo dnf install -y java-21-openjdk-headless maven'],
    ['', 'brew install openjdk@17 maven'],
  ])('has the package names of %j', (osRelease, command) => {
    const machine = machineWith(without('java', 'mvn'), { osRelease, isRoot: true })
    expect(installCommand(missingNeeds(machine), machine)).toBe(command)
  })

  it('is installed as root on Debian, and checked again', async () => {
    const before = machineWith(without('mvn'), { isRoot: true })
    const after = machineWith(WORKING, { isRoot: true })
    const ran: string[] = []
    const machines = [before, after]
    await ensureNeeds(
      async () => machines.shift() ?? after,
      (command) => ran.push(command) - 1,
    )
    expect(ran).toEqual(['apt-get update && apt-get install -y --no-install-recommends maven'])
    await expect(
      ensureNeeds(
        async () => before,
        () => 100,
      ),
    ).rejects.toThrow(/^The installation ended with 100\.\n.*Maven/s)
  })
})
