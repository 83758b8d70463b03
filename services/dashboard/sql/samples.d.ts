declare module 'virtual:sql-samples' {
  const samples: { title: string; query: string }[]
  export default samples
}
