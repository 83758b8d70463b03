/** Made-up projects and memes. */
export type Project = { symbol: string; name: string }

const project = (text: string): Project => {
  const [symbol = '', name = ''] = text.split(':')
  return { symbol, name }
}

export const PROJECTS: readonly Project[] = [
  ...['OTTR:Otter Finance', 'LUMN:Lumen Network', 'QUAY:Quay Protocol', 'FJRD:Fjord Markets', 'MOSS:Moss Carbon'],
  ...['KELP:Kelp Restaking', 'HALO:Halo Identity', 'BRZE:Breeze Pay', 'TIDE:Tidewater', 'NOVA:Nova Compute'],
  ...['RUNE9:Runestone Nine', 'PIXL:Pixel Forge', 'ORBT:Orbit Bridge', 'GRVL:Gravel', 'SABL:Sable Perps'],
  ...['VELA2:Velarium', 'CHAI:Chai Latte', 'DRFT:Driftwood', 'ECHO:Echo Oracle', 'FERN:Fern Social'],
  ...['GLXY:Galaxy Guild', 'HIVE7:Hive Seven', 'INKY:Inkwell', 'JADE:Jade Vaults', 'KITE:Kite Messaging'],
  ...['LYNX:Lynx Data', 'MINT:Mintleaf', 'NEON9:Neon District', 'OPAL:Opal Lending', 'PLUM:Plum Yield'],
  ...['QRTZ:Quartz Options', 'REEF2:Reefline', 'SAGE:Sage AI', 'TUSK:Tusk Storage', 'UMBR:Umbra Mail'],
  ...['VOLT9:Voltaic', 'WREN:Wren Index', 'XENO:Xenolith', 'YARN:Yarn Rollups', 'ZEST:Zest Games'],
  ...['ACRN:Acorn', 'BAYS:Bayside', 'CNDR:Cinder', 'DUSK9:Dusk Nine', 'EMBR:Ember Grid'],
].map(project)

const MOODS = [
  'Sleepy',
  'Based',
  'Tiny',
  'Turbo',
  'Moody',
  'Golden',
  'Lazy',
  'Angry',
  'Cosmic',
  'Soggy',
  'Brave',
  'Shy',
]
const BEASTS = [
  'Otter',
  'Frog',
  'Shiba',
  'Goose',
  'Capybara',
  'Cat',
  'Hamster',
  'Penguin',
  'Duck',
  'Llama',
  'Mole',
  'Yak',
]

export function memeName(serial: number, pick: <T>(items: readonly T[]) => T): Project {
  const [mood, beast] = [pick(MOODS), pick(BEASTS)]
  const symbol = `${mood.slice(0, 2)}${beast.slice(0, 4)}`.toUpperCase()
  return { symbol: serial % 3 === 0 ? `${symbol}${serial % 100}` : symbol, name: `${mood} ${beast}` }
}

export function linksOf({ symbol }: Project): string {
  const handle = symbol.toLowerCase()
  return JSON.stringify({ website: `https://${handle}.example`, twitter: `https://x.example/${handle}` })
}
