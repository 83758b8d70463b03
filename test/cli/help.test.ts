/** The help of every command in one file, so that a change of wording is reviewed. Update it with `npx vitest run test/cli/help.test.ts -u`. */
import type { Command } from 'commander'
import { expect, it } from 'vitest'
import type { World } from '../../services/cli/context.js'
import { buildProgram } from '../../services/cli/program.js'
import { createOutput } from '../../services/core/runtime/output.js'

const WIDTH = 120

/** Registering commands only stores this reference; nothing in it is called. */
const world: World = {
  ...{ env: {}, cwd: '.', out: createOutput(process.stdout), stdout: process.stdout },
  ...{ stdin: (async function* () {})(), stderr: process.stderr, nowMs: Date.now },
}

type Help = { name: string; text: string }

function helpOf(command: Command, parents: string[] = []): Help[] {
  const path = [...parents, command.name()]
  let text = ''
  command.configureOutput({
    getOutHelpWidth: () => WIDTH,
    getOutHasColors: () => false,
    writeOut: (part) => {
      text += part
    },
  })
  command.outputHelp()
  return [{ name: path.join(' '), text }, ...command.commands.flatMap((child) => helpOf(child, path))]
}

const all = helpOf(buildProgram(world, () => {}))

it('matches the reviewed help', async () => {
  const pages = all.map(({ name, text }) => `$ ${name} --help\n${text.trimEnd()}\n`)
  await expect(pages.join('\n\n')).toMatchFileSnapshot('help.snapshot.txt')
})

it('describes every command in one line that starts with a capital letter and ends without a full stop', () => {
  const commands = (command: Command): Command[] => [command, ...command.commands.flatMap(commands)]
  const described = commands(buildProgram(world, () => {})).slice(1)
  const texts = described.flatMap((command) => [
    `${command.name()}: ${command.description()}`,
    ...command.options.map(({ flags, description }) => `${command.name()} ${flags}: ${description}`),
  ])
  const isPlain = (text: string) => /: [A-Z][^\n]*[^.\n]$/.test(text)
  expect(texts.filter((text) => !isPlain(text))).toEqual([])
  expect(described.length).toBeGreaterThan(20)
})
