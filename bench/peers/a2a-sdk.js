// The official SDK's own server: Express, tasks in memory, an executor that makes a task, an artifact and an end.
import { randomUUID } from 'node:crypto'
import { AgentCard, Artifact, Task, TaskState } from '@a2a-js/sdk'
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server'
import { jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express'
import express from 'express'

const card = AgentCard.fromJSON({
  name: 'Bench',
  description: 'Bench',
  version: '1.0.0',
  supportedInterfaces: [{ url: 'http://127.0.0.1/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: {},
  defaultInputModes: ['text/plain', 'application/json'],
  defaultOutputModes: ['application/json'],
  skills: []
})

const status = (state) => ({ state, timestamp: new Date().toISOString(), message: undefined })
const executor = {
  async execute({ taskId, contextId, userMessage }, bus) {
    const task = Task.fromJSON({ id: taskId, contextId, status: { state: 'TASK_STATE_SUBMITTED' } })
    bus.publish(AgentEvent.task({ ...task, history: [userMessage] }))
    const { projectUserId } = userMessage.parts[0].content.value
    const data = { userId: randomUUID(), projectUserId }
    const artifact = Artifact.fromJSON({ artifactId: randomUUID(), name: 'user-result', parts: [{ data }] })
    bus.publish(
      AgentEvent.artifactUpdate({ taskId, contextId, artifact, append: false, lastChunk: true, metadata: {} })
    )
    bus.publish(
      AgentEvent.statusUpdate({ taskId, contextId, status: status(TaskState.TASK_STATE_COMPLETED), metadata: {} })
    )
    bus.finished()
  },
  async cancelTask() {}
}

const app = express()
const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor)
app.use('/a2a', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }))
const server = app.listen(0, '127.0.0.1', () => console.log(`is ready at http://127.0.0.1:${server.address().port}`))
