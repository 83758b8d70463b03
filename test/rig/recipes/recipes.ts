/** The commands of docs/recipes.md, by recipe: each line is a pipe of `dextape` commands. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repositoryRoot } from '../../../schemas/avro.js'
import type { Ended } from '../http/command.js'
import { runHere } from '../http/command-here.js'

const PAGE = readFileSync(join(repositoryRoot(), 'docs/recipes.md'), 'utf8')

const RECIPES = new Map(
  PAGE.split(/^## /m)
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf('\n')), linesOf(section)]),
)

export const recipeTitles = (): string[] => [...RECIPES.keys()]

/** The arguments of each command of each line. */
export function recipe(title: string): string[][][] {
  const lines = RECIPES.get(title)
  if (lines === undefined || lines.length === 0) throw new Error(`docs/recipes.md has no recipe "${title}"`)
  return lines.map((line) => line.split(' | ').map(argumentsOf))
}

function linesOf(section: string): string[] {
  const blocks = [...section.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block]) => block ?? '')
  return blocks.flatMap((block) => block.split('\n')).filter((line) => line.trim() !== '')
}

function argumentsOf(command: string): string[] {
  const [npx, dextape, ...args] = command.trim().split(/\s+/)
  if (npx !== 'npx' || dextape !== 'dextape') throw new Error(`not a command of ours: ${command}`)
  return args
}

export const startsServer = (args: readonly string[]): boolean => args.includes('up')

/** Runs a pipe; the end of its last command. */
export async function runPipe(commands: readonly string[][], cwd: string): Promise<Ended> {
  let ended: Ended = { code: 0, out: '', err: '' }
  for (const args of commands) {
    ended = await runHere(args, { cwd, stdin: ended.out })
    if (ended.code !== 0) throw new Error(`dextape ${args.join(' ')}: exit code ${ended.code}\n${ended.err}`)
  }
  return ended
}
