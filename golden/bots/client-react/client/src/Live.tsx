import type { PipecatClient } from "@pipecat-ai/client-js";
import { PipecatClientProvider, usePipecatClientMediaTrack } from "@pipecat-ai/client-react";
import { createStore } from "jotai";
import { useState } from "react";
import { BotAudio } from "./BotAudio";
import type { Session } from "./session";
import { Stage } from "./Stage";
import { useLevel, Volume } from "./Volume";

/** The sound of one session. The hooks and components of @pipecat-ai/client-react work inside it. */
export default function Live({ client, session }: { client: PipecatClient; session: Session }) {
  // One store per session: the package's own would keep the tracks of the last session.
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

/** The volume of the bot, in a component of its own because it renders often. */
function BotVolume({ track }: { track: MediaStreamTrack | null }) {
  return <Volume level={useLevel(track)} />;
}
