/** Parses and writes YAML in a worker thread, because a file with 500 monitors takes 100 ms. */
import { answerTasks } from '../core/thread/task-worker.ts'
import { readYaml, writeYaml } from './yaml-text.ts'
import type { YamlTask } from './yaml-thread.ts'

answerTasks((task: YamlTask) => ('read' in task ? readYaml(task.read) : writeYaml(task.write)))
