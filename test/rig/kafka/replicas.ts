/** Who leads each topic, and how many of its copies are in sync. */
import { Kafka, type KafkaConfig, logLevel } from 'kafkajs'

export type Copies = { topic: string; leader: number; replicas: number; inSync: number }

export async function copiesOf(config: Pick<KafkaConfig, 'brokers' | 'ssl' | 'sasl'>): Promise<Copies[]> {
  const admin = new Kafka({ ...config, logLevel: logLevel.NOTHING }).admin()
  await admin.connect()
  try {
    const { topics } = await admin.fetchTopicMetadata()
    return topics.flatMap(({ name, partitions }) =>
      partitions.map(({ leader, replicas, isr }) => ({
        ...{ topic: name, leader, replicas: replicas.length, inSync: isr.length },
      })),
    )
  } finally {
    await admin.disconnect()
  }
}
