/** The same failures for a server in a container, where a Docker engine answers. */
import { request } from 'node:http'
import type { GenericContainer } from 'testcontainers'
import type { KillableServer } from './killable.js'

const ANSWER_WITHIN_MS = 2_000

/** Asks the engine of DOCKER_HOST, else of the usual socket. */
export function dockerAnswers(): Promise<boolean> {
  const host = process.env.DOCKER_HOST ?? 'unix:///var/run/docker.sock'
  if (!URL.canParse(host)) return Promise.resolve(false)
  const { protocol, hostname, port, pathname } = new URL(host)
  const place = protocol === 'unix:' ? { socketPath: pathname } : { hostname, port }
  return new Promise((resolve) => {
    const asked = request({ ...place, path: '/_ping', timeout: ANSWER_WITHIN_MS, agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    asked.on('timeout', () => asked.destroy())
    asked.on('error', () => resolve(false))
    asked.end()
  })
}

/** The container's ports must be bound to fixed ones of the host: a restart would choose others. */
export async function startContainer(described: GenericContainer): Promise<KillableServer> {
  const { getContainerRuntimeClient } = await import('testcontainers')
  const started = await described.start()
  const { container: engine } = await getContainerRuntimeClient()
  const container = engine.getById(started.getId())
  let { State: state } = await container.inspect()
  const look = async () => {
    state = (await container.inspect()).State
    return state
  }
  const kill = async () => {
    const { Running: runs, Paused: isPaused } = await look()
    if (!runs) return
    if (isPaused) await container.unpause()
    await container.kill({ signal: 'SIGKILL' })
    await container.wait()
  }
  return {
    get pid() {
      return state.Pid
    },
    kill,
    pause: () => container.pause(),
    resume: () => container.unpause(),
    restart: async () => {
      await kill()
      await started.restart()
      await look()
    },
    stop: async () => {
      await kill()
      await started.stop()
    },
  }
}
