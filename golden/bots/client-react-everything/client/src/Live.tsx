import type { PipecatClient } from "@pipecat-ai/client-js";
import { PipecatClientProvider, PipecatClientVideo, usePipecatClientMediaTrack } from "@pipecat-ai/client-react";
import { createStore } from "jotai";
import { useState } from "react";
import { BotAudio } from "./BotAudio";
import type { Session } from "./session";
import { Stage } from "./Stage";
import { useSession } from "./useSession";
import { useLevel, Volume } from "./Volume";

/** The sound and the pictures of one session. The hooks and components of @pipecat-ai/client-react work inside it. */
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
  const cameraOn = useSession(session, (state) => state.cameraOn);

  return (
    <>
      <Stage
        bot={<PipecatClientVideo participant="bot" fit="cover" aria-label="The bot" />}
        own={cameraOn && <PipecatClientVideo participant="local" fit="cover" mirror aria-label="Your camera" />}
        volume={<BotVolume session={session} track={sound} />}
      />
      <BotAudio session={session} track={sound} />
    </>
  );
}

/** The volume of the bot, in a component of its own because it renders often. */
function BotVolume({ session, track }: { session: Session; track: MediaStreamTrack | null }) {
  const measured = useLevel(track);
  const reported = useSession(session, (state) => state.botLevel);
  return <Volume level={track ? measured : reported} />;
}
