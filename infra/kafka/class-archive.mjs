// The broker's classes as the JVM keeps them ready loaded: with it a start takes half the time and half the CPU.
import { existsSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { JARS } from './jars.mjs'

const ARCHIVE = `${JARS}.jsa`

/** The last thing that is made: where it is, the jars are. */
export const isArchived = () => existsSync(ARCHIVE)

/** Empty where making one failed: a broker starts without. The JVM leaves one aside that another Java made. */
export const archiveOptions = () =>
  isArchived() && statSync(ARCHIVE).size > 0 ? [`-XX:SharedArchiveFile=${ARCHIVE}`] : []

/** A broker is run once, and its classes are kept when it ends. `startNode(directory, port, options)` starts it. */
export async function makeArchive(startNode, tell) {
  if (isArchived()) return
  tell('starting the broker once to make later starts quick')
  const directory = mkdtempSync(join(tmpdir(), 'dextape-kafka-'))
  const part = `${ARCHIVE}.part`
  rmSync(part, { force: true })
  try {
    const node = await startNode(directory, await freePort(), [`-XX:ArchiveClassesAtExit=${part}`])
    await node.ready
    node.signal('SIGTERM')
    await node.ended
    renameSync(part, ARCHIVE)
  } catch (error) {
    tell(`later starts stay slow: ${error.message}`)
    writeFileSync(ARCHIVE, '')
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address()
      probe.close(() => resolve(port))
    })
  })
}
