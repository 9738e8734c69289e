// Plays recorded events to the plugin: node play.mjs PLUGIN. Each line of stdin is one event or hook, with its time in `ms`.
// `stall` keeps the process busy for that many milliseconds, so that no timer runs. Prints one line for every hook that
// threw, and for every answer that the plugin gave to the client.
import readline from "node:readline"
import { pathToFileURL } from "node:url"

const print = (value) => process.stdout.write(`${JSON.stringify(value)}\n`)
const client = {
  postSessionIdPermissionsPermissionId: async (options) => {
    print({ answer: { path: options.path, body: options.body } })
    return {}
  },
  _client: {
    post: async (options) => {
      print({ answer: { url: options.url, path: options.path, body: options.body } })
      return {}
    },
  },
}

const realNow = Date.now.bind(Date)
const { Headspace } = await import(pathToFileURL(process.argv[2]))
let hooks = null

async function call(name, value) {
  hooks ||= await Headspace({ client, directory: "/home/sam/code/app" })
  if (name === "init") return
  if (name === "event") return hooks.event?.({ event: value })
  if (name === "dispose") {
    await hooks.dispose?.()
    hooks = null
    return
  }
  return hooks[name]?.(value.input ?? value, value.output)
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  const { ms, act, stall, ...rest } = JSON.parse(line)
  if (ms !== undefined) Date.now = () => 1790000000000 + ms
  else Date.now = realNow
  for (const [name, value] of Object.entries(rest)) {
    try {
      const called = call(name, value)
      for (const end = performance.now() + (stall ?? 0); performance.now() < end; );
      await called
    } catch (error) {
      print({ thrown: error.message, hook: name })
    }
  }
  print({ played: act ?? Object.keys(rest)[0] })
}
