// The programs the broker needs, with instructions if one is missing.
import { spawn, spawnSync } from 'node:child_process'

const OLDEST_JAVA = 17
const LAST_LINES = 15

/** An error whose message is enough: printed without a stack. */
export class BrokerError extends Error {}

export function requireJava() {
  const asked = spawnSync('java', ['-version'], { encoding: 'utf8' })
  const found = Number(/version "(\d+)/.exec(asked.stderr ?? '')?.[1])
  if (found >= OLDEST_JAVA) return
  const what = asked.error === undefined && found > 0 ? `Java ${found} is too old` : 'Java is missing'
  throw new BrokerError(
    `${what}: the Kafka broker is a Java program and needs Java ${OLDEST_JAVA} or newer on the PATH. ` +
      'Install it: apt install openjdk-17-jre-headless (macOS: brew install openjdk@17), or use a Docker engine.',
  )
}

export function requireMaven() {
  if (spawnSync('mvn', ['-version'], { stdio: 'ignore' }).status === 0) return
  throw new BrokerError(
    'Maven (mvn) is missing: it fetches the Kafka broker from Maven Central, once. ' +
      'Install it: apt install maven (macOS: brew install maven), or use a Docker engine.',
  )
}

/** Runs a program to its end; `onLine` gets its output. Fails with its last lines. */
export function run(command, args, onLine = () => {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    const lines = []
    for (const stream of [child.stdout, child.stderr]) {
      let rest = ''
      stream.setEncoding('utf8').on('data', (text) => {
        const whole = (rest + text).split('\n')
        rest = whole.pop() ?? ''
        for (const line of whole) {
          lines.push(line)
          onLine(line)
        }
        lines.splice(0, lines.length - LAST_LINES)
      })
    }
    child.once('error', reject)
    child.once('close', (code) => {
      if (code === 0) resolve()
      else reject(new BrokerError(`${command} exited with code ${code}:\n${lines.join('\n')}`))
    })
  })
}
