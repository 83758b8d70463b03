/** A page that records its errors and the hosts it requests. */
import type { BrowserContext, Page } from 'playwright-core'

export type WatchedPage = {
  page: Page
  /** Script and console errors. */
  errors: string[]
  /** Requested hosts, WebSockets included. */
  hosts: Set<string>
}

export async function openPage(context: BrowserContext): Promise<WatchedPage> {
  const page = await context.newPage()
  const errors: string[] = []
  const hosts = new Set<string>()
  page.on('pageerror', (error) => errors.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text())
  })
  page.on('request', (request) => hosts.add(new URL(request.url()).hostname))
  page.on('websocket', (socket) => hosts.add(new URL(socket.url()).hostname))
  return { page, errors, hosts }
}

export async function hasNoSidewaysScroll(page: Page): Promise<boolean> {
  return page.evaluate<boolean>('document.documentElement.scrollWidth <= window.innerWidth')
}

/** Number of painted pixels of a canvas. */
export async function paintedPixels(page: Page, selector: string): Promise<number> {
  return page.evaluate<number>(`(() => {
    const canvas = document.querySelector('${selector}')
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
    return data.filter((value, index) => index % 4 === 3 && value > 0).length
  })()`)
}

/** Targets of the in-page links within a selector, as `#name`. */
export async function anchorsIn(page: Page, selector: string): Promise<string[]> {
  return page.evaluate<string[]>(`[...document.querySelectorAll('${selector} a')].map((link) => link.hash)`)
}
