import { parentPort } from 'node:worker_threads'

/** Answers the tasks of a `TaskRunner` inside its thread or process, once it has loaded. An error ends it. */
export function answerTasks<In, Out>(answer: (input: In) => Out | Promise<Out>): void {
  const send = (output: Out | null) => (parentPort ? parentPort.postMessage(output) : process.send?.(output))
  // A rejection ends the worker like an error, because nothing handles it.
  const onTask = async (input: In) => send(await answer(input))
  if (parentPort) parentPort.on('message', onTask)
  else {
    process.on('message', (input) => onTask(input as In))
    // Ctrl-C and systemd signal every process of the service. Its own process ends this one when it is no longer needed.
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})
  }
  send(null)
}
