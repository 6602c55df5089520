import type { PipecatClient } from "@pipecat-ai/client-js";
import { PipecatClientProvider, usePipecatClientMediaTrack } from "@pipecat-ai/client-react";
import { createStore } from "jotai";
import { useState } from "react";
import { BotAudio } from "./BotAudio";
import type { Session } from "./session";
import { Stage } from "./Stage";
import { useLevel, Volume } from "./Volume";

/** The sound of one session. All hooks and components of @pipecat-ai/client-react work in here. */
export default function Live({ client, session }: { client: PipecatClient; session: Session }) {
  // One for each session: the package's own store would keep the tracks of the last one.
  const [store] = useState(createStore);

  return (
    <PipecatClientProvider client={client} jotaiStore={store}>
      <Media session={session} />
    </PipecatClientProvider>
  );
}

function Media({ session }: { session: Session }) {
  const sound = usePipecatClientMediaTrack("audio", "bot");

  return (
    <>
      <Stage volume={<BotVolume track={sound} />} />
      <BotAudio session={session} track={sound} />
    </>
  );
}

/** How loud the bot is. It is drawn often, and by itself. */
function BotVolume({ track }: { track: MediaStreamTrack | null }) {
  return <Volume level={useLevel(track)} />;
}
