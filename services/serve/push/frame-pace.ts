/** `flooding`: the client ignores refusals; its socket should be closed. */
export type FrameVerdict = 'fine' | 'refused' | 'flooding'

export interface FramePace {
  count(): FrameVerdict
}

/** Clients send many frames when they connect and few afterwards: frames not sent in the last seconds may be sent at once. */
const BURST_S = 10

/** Refused frames count too, so a client that keeps sending is found to be flooding. */
export function createFramePace(framesPerS: number | null, nowMs: () => number): FramePace {
  if (framesPerS === null) return { count: () => 'fine' }
  const burst = framesPerS * BURST_S
  let left = burst
  let atMs = nowMs()

  return {
    count() {
      const now = nowMs()
      const regained = Math.max(0, ((now - atMs) / 1000) * framesPerS)
      atMs = now
      left = Math.max(-burst, Math.min(burst, left + regained) - 1)
      if (left >= 0) return 'fine'
      return left <= -burst ? 'flooding' : 'refused'
    },
  }
}
