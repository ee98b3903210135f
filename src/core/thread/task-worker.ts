import { parentPort } from 'node:worker_threads'

/** Answers the tasks of a `TaskThread` inside the worker, once it has loaded. An error ends the thread. */
export function answerTasks<In, Out>(answer: (input: In) => Out | Promise<Out>): void {
  // A rejection ends the thread like an error, because nothing handles it.
  parentPort?.on('message', async (input: In) => parentPort?.postMessage(await answer(input)))
  parentPort?.postMessage(null)
}
